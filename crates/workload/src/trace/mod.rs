//! Traces: recorded requests.
