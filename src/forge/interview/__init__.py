"""Forge: one interview that makes a bot or a skill, whoever asks the questions and wherever they are answered."""
