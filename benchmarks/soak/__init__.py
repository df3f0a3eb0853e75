"""Half an hour of everything at once against one server: what it holds on to must not grow."""
