"""The laboratory as a local page: `drivelab web`.

Nothing here is loaded before somebody asks for the page. What it shows is computed by the same code
as on the command line; the files below `static/` only draw it.
"""
