"""The files of bots and skills: plan them, write them, replay them."""
