"""Programs as their disk sees them: requests, and processor time between them."""
