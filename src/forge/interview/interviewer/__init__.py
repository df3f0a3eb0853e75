"""The interviewer: a model that asks the questions and writes souls and skills."""
