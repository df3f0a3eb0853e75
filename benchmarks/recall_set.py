"""Facts as a bot stores them, with two questions for each, and questions that none of them answers.

The first question of a fact shares no words with it; the second shares some, as when people remember what they said.
The set was written for this benchmark; only the minimum similarity was chosen with it.
"""

FACTS = (
    (
        "Mara is allergic to walnuts and carries an adrenaline injector.",
        "Which ingredients could be dangerous in my lunch?",
        "Am I allergic to anything?",
    ),
    (
        "Mara's younger brother Teo studies marine biology in Trieste.",
        "What is my sibling doing at university?",
        "Where does my brother study?",
    ),
    (
        "Mara prefers answers in bullet points without an introduction.",
        "How should you format your replies to me?",
        "Do I prefer bullet points or paragraphs?",
    ),
    (
        "Mara drives a blue electric van that seats seven.",
        "Will everyone fit into my vehicle?",
        "How many seats does my van have?",
    ),
    (
        "Mara's landlord is called Mr Okafor and answers only by text message.",
        "How do I reach the owner of my flat?",
        "How can I send my landlord a message?",
    ),
    (
        "Mara has a standing desk order that arrives on 14 March.",
        "When is the office furniture delivered?",
        "When does the desk arrive?",
    ),
    (
        "Mara decided to learn Portuguese instead of Italian.",
        "Which language am I picking up this year?",
        "Am I learning Italian or Portuguese?",
    ),
    (
        "Mara runs ten kilometers every Sunday morning.",
        "What do I do for exercise at the weekend?",
        "How far do I run on Sundays?",
    ),
    (
        "Mara's cat Pixel must take thyroid tablets twice a day.",
        "What medicine does my pet need?",
        "When does the cat get her tablets?",
    ),
    (
        "Mara works as a lighting technician at the city theatre.",
        "What do I do for a living?",
        "At which theatre do I work?",
    ),
    (
        "Mara's mother-in-law visits every second Thursday.",
        "Who comes by our house regularly?",
        "Which Thursday does my mother-in-law visit?",
    ),
    (
        "Mara does not drink alcohol.",
        "Would a bottle of wine be a good present for me?",
        "Do I drink beer or other alcohol?",
    ),
    (
        "Mara's favorite author is Ursula K. Le Guin.",
        "Whose novels do I enjoy most?",
        "Who is my favorite author?",
    ),
    (
        "Mara's home server runs NixOS on an old ThinkPad.",
        "What operating system is on my machine in the basement?",
        "What does the home server run?",
    ),
    (
        "Mara wants code examples in Rust, not in C++.",
        "Which programming language should the sample be written in?",
        "Do I want examples in Rust?",
    ),
    (
        "Mara's wedding anniversary is on the ninth of October.",
        "When did I get married?",
        "When is our anniversary?",
    ),
    (
        "Mara is afraid of flying and takes the night train.",
        "How should I travel to the conference in Vienna?",
        "Should I book a flight or the night train?",
    ),
    (
        "Mara's daughter Ines starts school in September.",
        "Which child of mine has a big first day coming up?",
        "When does Ines start school?",
    ),
    (
        "Mara keeps bees on the roof of her house.",
        "Where does the honey in my kitchen come from?",
        "Where do I keep the bees?",
    ),
    (
        "Mara's thesis is about shadow puppetry in Java.",
        "What did I write my dissertation on?",
        "What was the topic of my thesis?",
    ),
    (
        "Mara saves for a sailing boat and has put aside 4,000 euros.",
        "How far am I from affording my big dream?",
        "How much have I saved for the boat?",
    ),
    (
        "Mara's dentist appointment is on Friday at 8:30.",
        "When do I have to see someone about my teeth?",
        "When is the appointment with the dentist?",
    ),
    (
        "Mara cannot stand the taste of coriander.",
        "Which herb should you leave out of the recipe?",
        "Is there a taste I cannot stand?",
    ),
    (
        "Mara's team chose PostgreSQL because they need geographic queries.",
        "Why did we pick that database?",
        "Why does my team use PostgreSQL?",
    ),
    (
        "Mara's bicycle was stolen in front of the library.",
        "What happened to my bike?",
        "Where was my bicycle stolen?",
    ),
    (
        "Mara plays second violin in an amateur orchestra.",
        "What instrument do I perform on?",
        "Do I play first or second violin?",
    ),
    (
        "Mara's neighbor Ludek has a spare key.",
        "Who can let me in if I lock myself out?",
        "Which neighbor has the spare key?",
    ),
    (
        "Mara is left-handed.",
        "Which pair of scissors should I buy?",
        "Am I right-handed or left-handed?",
    ),
    (
        "Mara gets migraines from bright flickering light.",
        "What triggers my headaches?",
        "What gives me a migraine?",
    ),
    (
        "Mara's company closes between Christmas and New Year.",
        "Do I have to work in the last week of December?",
        "When does the company close at Christmas?",
    ),
    (
        "Mara's project budget was cut to 12,000 euros.",
        "How much money is left for what we are building?",
        "What is the budget of the project now?",
    ),
    (
        "Mara wears shoes in size 39.",
        "What footwear would fit me?",
        "What is my shoe size?",
    ),
    (
        "Mara writes in British English.",
        "Which spelling should the article use?",
        "Do I write American or British English?",
    ),
    (
        "Mara's grandfather was a clockmaker in Prague.",
        "What craft runs in my family?",
        "What was my grandfather's job?",
    ),
    (
        "Mara's flat has no lift and is on the fifth floor.",
        "How do I get a heavy washing machine home?",
        "On which floor is my flat?",
    ),
    (
        "Mara's therapist advised her to go to bed before eleven.",
        "What was I told about sleep?",
        "When should I go to bed, according to my therapist?",
    ),
    (
        "Mara's phone plan ends on the last day of June.",
        "When can I change my mobile contract?",
        "When does my phone plan end?",
    ),
    (
        "Mara grows tomatoes and chillies on her balcony.",
        "Which vegetables do I cultivate myself?",
        "What do I grow on the balcony?",
    ),
    (
        "Mara's best friend Yusuf moved to Montreal.",
        "Who do I know in Canada?",
        "Where did my friend Yusuf move?",
    ),
    (
        "Mara lost her job at the printing house in 2019.",
        "When was I laid off?",
        "When did I lose my job at the printing house?",
    ),
    (
        "Mara meditates for twenty minutes after waking up.",
        "What is my morning routine?",
        "How long do I meditate?",
    ),
    (
        "Mara's son Leo is lactose intolerant.",
        "Can my boy have ice cream?",
        "What is Leo intolerant to?",
    ),
    (
        "Mara always books a window seat.",
        "Where do I like to sit on a train?",
        "Window or aisle seat?",
    ),
    (
        "Mara's manager is Dr Lindqvist, who wants reports on Mondays.",
        "Who is my boss and when is the paperwork due?",
        "On which day does my manager want the reports?",
    ),
    (
        "Mara has read access to the staging cluster only.",
        "Am I allowed to deploy to production?",
        "What access do I have to the cluster?",
    ),
    (
        "Mara voted to keep the old logo.",
        "What was my opinion about the redesign of the brand?",
        "Did I vote for the new logo?",
    ),
    (
        "Mara's kitchen is painted dark green.",
        "What colour are the walls where I cook?",
        "In what colour is the kitchen painted?",
    ),
    (
        "Mara is writing a detective story set in Tallinn.",
        "Where does my novel take place?",
        "Where is my detective story set?",
    ),
    (
        "Mara pays for childcare until half past four.",
        "By what time must I pick up the kids?",
        "Until when is the childcare paid?",
    ),
    (
        "Mara broke her wrist while ice skating last winter.",
        "How did I injure my arm?",
        "How did I break my wrist?",
    ),
)

UNANSWERED = (
    "What is the boiling point of mercury?",
    "Translate 'good evening' into Japanese.",
    "Who won the chess championship in 1972?",
    "Explain how a heat pump works.",
    "Write a haiku about rain.",
    "What does the word 'ostensible' mean?",
    "How many moons does Jupiter have?",
    "Sort this list of numbers in ascending order.",
    "Summarize the French Revolution in three sentences.",
    "What is the time complexity of merge sort?",
    "Convert 30 miles to kilometers.",
    "Why is the sky blue?",
    "Give me a regular expression for an email address.",
    "What is the difference between TCP and UDP?",
    "Thank you, that was helpful!",
)
