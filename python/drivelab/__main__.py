"""`python -m drivelab`: the command line, of the interpreter that one has."""

from drivelab.cli import main

if __name__ == "__main__":
    main()
