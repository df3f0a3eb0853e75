"""The interview that creates bots and skills: questions, answers, drafts and the files that result."""
