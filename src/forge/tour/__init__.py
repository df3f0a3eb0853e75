"""`forge demo`: a walk through all of Forge that Forge takes by itself, against the scripted model."""
