"""What the product needs from the outside world, in its own words."""
