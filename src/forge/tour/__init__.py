"""`forge demo`: an automatic tour of all features, with the scripted model."""
