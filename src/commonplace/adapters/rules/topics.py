"""What the rules know about the world: diets, illnesses, trades, things, places. Data only, and never complete."""

from commonplace.adapters.rules.wordsets import phrase_set, word_set

DIETS = word_set(
    "vegan vegetarian pescatarian keto paleo kosher halal gluten-free flexitarian carnivore omnivore dairy-free"
    " plant-based veggie"
    " lactose-free low-carb fruitarian macrobiotic sugar-free"
)
MARITAL = word_set("married single divorced engaged widowed separated")
RELIGIONS = word_set(
    "catholic christian muslim jewish buddhist hindu sikh atheist agnostic protestant mormon orthodox lutheran"
    " methodist baptist"
    " anglican quaker taoist pagan wiccan jain evangelical presbyterian secular"
)
NATIONALITIES = word_set(
    "american british english scottish welsh irish french german spanish portuguese italian dutch belgian swiss"
    " austrian danish swedish"
    " norwegian finnish icelandic polish czech slovak hungarian romanian bulgarian greek turkish russian"
    " ukrainian serbian croatian"
    " bosnian slovenian albanian macedonian estonian latvian lithuanian georgian armenian azerbaijani kazakh"
    " uzbek indian pakistani"
    " bangladeshi nepali sri-lankan chinese japanese korean taiwanese thai vietnamese cambodian filipino"
    " indonesian malaysian singaporean"
    " australian canadian mexican brazilian argentinian argentine chilean peruvian colombian venezuelan"
    " ecuadorian bolivian uruguayan"
    " cuban dominican jamaican haitian nigerian ghanaian kenyan ethiopian somali egyptian moroccan algerian"
    " tunisian senegalese ugandan"
    " tanzanian rwandan zimbabwean south-african israeli palestinian lebanese syrian jordanian iraqi iranian"
    " persian saudi kuwaiti emirati"
    " afghan kiwi catalan basque flemish bavarian european african asian latino latina latvian maltese cypriot"
    " luxembourgish"
)
CONDITION_ADJECTIVES = phrase_set(
    "diabetic, asthmatic, colorblind, colourblind, color blind, colour blind, dyslexic, deaf, blind, autistic,"
    " epileptic, anemic, anaemic,"
    " pregnant, lactose intolerant, lactose-intolerant, gluten intolerant, coeliac, celiac, bipolar, hard of"
    " hearing, partially deaf,"
    " neurodivergent, nearsighted, farsighted, short-sighted, hypertensive, insulin resistant, disabled,"
    " paraplegic, infertile, dyspraxic,"
    " type 1 diabetic, type 2 diabetic, immunocompromised, arthritic, paralysed, paralyzed, wheelchair-bound,"
    " hypothyroid"
)
CONDITIONS = word_set(
    "asthma diabetes epilepsy arthritis insomnia anxiety depression adhd autism ocd ptsd migraine migraines"
    " hypertension anemia anaemia"
    " eczema psoriasis lupus cancer hiv ibs crohn's endometriosis pcos gout glaucoma tinnitus vertigo scoliosis"
    " osteoporosis hypothyroidism"
    " hyperthyroidism dyslexia dyscalculia fibromyalgia sciatica parkinson's alzheimer's dementia narcolepsy"
    " celiac coeliac gerd reflux"
    " rosacea vitiligo hayfever hepatitis leukemia lymphoma cataracts apnea apnoea burnout reynaud's raynaud's"
    " acne stutter limp angina"
    " schizophrenia anorexia bulimia hashimoto's palsy sclerosis pacemaker dystrophy thyroid pressure cholesterol"
    " intolerance impairment arrhythmia neuropathy aneurysm hernia"
)
BODY_PARTS = word_set("knee knees back heart shoulder hip ankle wrist eyesight hearing neck")
ALLERGENS = word_set("allergy allergies")
PASSING = word_set("headache cold flu fever hangover cough stomachache toothache")
MEDICINE = word_set(
    "insulin metformin vitamin ibuprofen aspirin paracetamol statins antidepressants antihistamines antibiotics"
    " vitamins supplements medication"
    " meds melatonin magnesium iron zinc creatine probiotics adderall ritalin vyvanse concerta xanax prozac"
    " zoloft lexapro lithium"
    " warfarin prednisone levothyroxine ozempic wegovy mounjaro pill pills tablets inhaler steroids painkillers"
    " testosterone estrogen"
    " hormones collagen ssris beta-blockers eliquis humira tylenol advil claritin zyrtec benadryl omega-3"
    " multivitamin blood-thinners"
    " thinners blockers"
)
MEDICINE_ENDINGS = (
    "pril",
    "statin",
    "olol",
    "sartan",
    "cillin",
    "mycin",
    "azole",
    "prazole",
    "dipine",
    "oxetine",
    "triptyline",
    "alopram",
    "aline",
    "zepam",
    "zolam",
    "formin",
    "gliptin",
    "glutide",
    "mab",
    "thyroxine",
    "sone",
    "solone",
    "profen",
    "caine",
    "triptan",
    "apine",
    "idone",
    "bamate",
    "gabalin",
    "pentin",
    "trigine",
    "faxine",
    "floxacin",
    "cycline",
    "vir",
    "lukast",
    "terol",
    "thiazide",
    "semide",
)
FOODLIKE = word_set(
    "sugar coffee caffeine meat alcohol dairy gluten bread chocolate soda beer wine carbs wheat eggs fish pork"
    " beef tea milk cheese"
    " sweets candy seafood sodas whisky liquor booze cigarettes nicotine junk-food salt nuts"
)

PEOPLE_TRAITS = phrase_set(
    "introvert, extrovert, extravert, ambivert, night owl, early bird, early riser, morning person, evening"
    " person, optimist, pessimist,"
    " perfectionist, realist, workaholic, procrastinator, beginner, people pleaser, people person, dog person,"
    " cat person, coffee person,"
    " tea person, feminist, minimalist, homebody, foodie, bookworm, nerd, geek, control freak, neat freak,"
    " loner, dreamer, overthinker,"
    " visual learner, slow learner, fast learner, quick learner, liberal, conservative, libertarian, socialist,"
    " pacifist, virgo, leo, aries,"
    " taurus, gemini, cancer, libra, scorpio, sagittarius, capricorn, aquarius, pisces, light sleeper, heavy"
    " sleeper, picky eater, slow reader,"
    " fast reader, smoker, non-smoker, nonsmoker, lefty, environmentalist, romantic, gamer, hoarder, chocoholic,"
    " shopaholic, millennial, boomer,"
    " immigrant, expat, refugee, veteran, twin, city person, big eater, good listener, team player, novice,"
    " newbie, adrenaline junkie,"
    " runner, cyclist, hiker, climber, swimmer, surfer, skier, bookworm, big reader, avid reader, clean freak,"
    " worrier, idealist, skeptic, sceptic, empath, late bloomer, hypochondriac, digital nomad, polyglot, cancer"
    " survivor"
)
TRAIT_ADJECTIVES = phrase_set(
    "shy, impatient, patient, lazy, ambitious, introverted, extroverted, outgoing, creative, stubborn,"
    " organized, organised, disorganized,"
    " messy, tidy, punctual, competitive, sensitive, anxious, optimistic, pessimistic, honest,"
    " left-handed, left handed, right-handed,"
    " right handed, ambidextrous, tall, short, bald, gay, lesbian, bisexual, bi, trans, transgender, queer,"
    " straight, asexual, nonbinary,"
    " non-binary, religious, spiritual, superstitious, forgetful, clumsy, claustrophobic, frugal, artistic,"
    " athletic, bilingual, trilingual,"
    " adventurous, disciplined, easygoing, easy-going, picky, indecisive, perfectionistic, absent-minded,"
    " hard-working, hardworking, quiet,"
    " talkative, blunt, cautious, thrifty, risk-averse, detail-oriented, tech-savvy, colour-blind, blonde,"
    " ginger, monogamous, polyamorous,"
    " conservative, liberal, progressive, socially awkward, romantic, arachnophobic, agoraphobic, self-taught,"
    " sober, teetotal, camera shy"
)
WORK_STATES = phrase_set(
    "retired, unemployed, self-employed, self employed, freelance, between jobs, out of work, on maternity"
    " leave, on paternity leave,"
    " on parental leave, on sabbatical, jobless, semi-retired"
)
PROFESSIONS = word_set(
    "nurse doctor teacher chef cook barista pilot vet student intern engineer developer programmer designer"
    " architect lawyer solicitor"
    " barrister attorney judge accountant auditor analyst consultant manager director ceo cto cfo coo vp founder"
    " entrepreneur freelancer"
    " contractor artist musician singer actor actress dancer writer author journalist editor photographer"
    " filmmaker producer scientist"
    " researcher professor lecturer tutor academic librarian translator interpreter pharmacist dentist surgeon"
    " physician paramedic"
    " midwife physiotherapist therapist psychologist psychiatrist optician radiologist anaesthetist anesthetist"
    " anesthesiologist"
    " veterinarian firefighter policeman policewoman cop detective soldier sailor farmer fisherman gardener"
    " florist carpenter plumber"
    " electrician mechanic welder mason builder roofer painter decorator locksmith tailor baker butcher waiter"
    " waitress bartender"
    " cleaner housekeeper janitor driver courier postman conductor cashier clerk secretary receptionist"
    " assistant salesman saleswoman"
    " salesperson realtor broker banker trader economist statistician mathematician physicist chemist biologist"
    " geologist astronomer"
    " historian philosopher linguist archaeologist anthropologist sociologist priest pastor monk nun rabbi imam"
    " coach trainer referee"
    " athlete footballer model hairdresser barber beautician stylist luthier beekeeper blacksmith potter"
    " jeweller jeweler watchmaker"
    " cartographer surveyor planner politician diplomat ambassador lobbyist activist volunteer homemaker"
    " housewife househusband nanny"
    " au-pair caretaker caregiver carer counsellor counselor social-worker worker lead head officer specialist"
    " technician operator"
    " administrator sysadmin devops dev recruiter marketer copywriter blogger youtuber streamer influencer"
    " illustrator animator composer"
    " dj comedian magician curator paralegal notary bookkeeper actuary underwriter adviser advisor supervisor"
    " foreman undergraduate"
    " undergrad postgrad postdoc grad sophomore freshman pensioner retiree landlord agent representative rep"
    " strategist coordinator"
    " executive associate partner principal fellow resident apprentice trainee jockey butler valet steward"
    " stewardess hostess host"
    " sculptor weaver brewer winemaker sommelier distiller cobbler upholsterer glazier tiler plasterer"
    " scaffolder optometrist"
    " orthodontist hygienist dietitian nutritionist chiropractor osteopath masseuse masseur acupuncturist"
    " dermatologist cardiologist"
    " attendant guard lifeguard bodyguard chauffeur poet novelist aide guide mayor deputy sheriff concierge doula"
    " critic sergeant captain lieutenant buyer ranger rancher"
    " oncologist pediatrician paediatrician gynecologist neurologist neurosurgeon audiologist dad mom mum father"
    " mother parent"
)
NOT_PROFESSIONS = word_set(
    "person lover user member owner fan killer winner loser number bother player eater learner sleeper teenager"
    " foreigner newcomer stranger"
    " outsider believer follower leader speaker drinker smoker hater mother father daughter sister brother"
    " beginner disaster monster"
    " gamer reader commuter swimmer runner rider customer subscriber liar sinner fighter survivor homeowner"
    " quitter newbie disappointment"
    " listener thinker pleaser joker bummer cancer riser keeper sucker whatever error victor visitor neighbor"
    " traitor minor senior junior"
    " vegan vegetarian pescatarian christian giant genius hiker biker cyclist"
)
PROFESSION_ENDINGS = ("er", "or", "ist", "ian", "eer", "smith", "man", "woman", "wright", "ologist", "grapher")
PARENT_WORDS = word_set("mother father mom mum dad parent grandmother grandfather grandma grandpa")

POSSESSIONS = word_set(
    "car bike bicycle motorbike motorcycle scooter van truck boat sailboat yacht canoe kayak house home"
    " apartment flat condo cabin cottage"
    " farm garden greenhouse garage laptop computer pc desktop tablet phone smartphone camera guitar piano"
    " violin cello drum drums keyboard"
    " telescope printer drone console playstation xbox tv television projector headphones turntable"
    " record-player sauna pool hot-tub"
    " caravan campervan motorhome rv tent telescope treadmill ebike e-bike skateboard surfboard snowboard"
    " vineyard allotment balcony terrace"
    " shop store bakery cafe café restaurant business startup bookshop salon studio gallery tattoo tattoos"
    " piercing monitor smartwatch"
    " kindle ereader e-reader synth synthesizer sewing-machine loom kiln ukulele banjo saxophone trumpet harp"
    " dishwasher narrowboat houseboat"
    " tractor jeep pickup convertible moped roomba vacuum espresso-machine airfryer grill smoker tattoo macbook"
    " ipad iphone raspberry passport"
    " motorboat hammock record collection library plot land plane airplane lathe workshop subscription"
)
BUSINESSES = word_set(
    "bakery shop store cafe café restaurant business startup bookshop salon studio gallery farm company agency"
    " podcast blog newsletter"
    " bar pub hotel brewery newsletter bookstore vineyard clinic practice school nonproject charity channel"
)
EVENT_NOUNS = word_set(
    "appointment exam exams interview meeting flight wedding surgery operation presentation conference trip"
    " vacation holiday concert party"
    " test deadline checkup check-up scan marathon race recital graduation date reservation viva defense"
    " thesis-defence call audition"
    " competition tournament match game hearing reunion birthday due class lesson workshop retreat"
)
GROUPS = word_set(
    "club choir gym band team league party association union church group orchestra society troupe board"
    " committee cooperative co-op"
    " community squad guild forum lodge parish congregation"
)
ACTIVITIES = word_set(
    "yoga pilates crossfit karate judo taekwondo boxing kickboxing gymnastics ballet aerobics zumba ceramics"
    " pottery woodworking calligraphy"
    " improv theatre theater parkour bouldering climbing bjj jiu-jitsu capoeira triathlons triathlon marathons"
    " crosswords puzzles origami"
    " embroidery crochet knitting weightlifting powerlifting gardening archery fencing stand-up photography"
    " birdwatching meditation tai-chi"
    " cosplay weights spinning barre fencing"
)
HOBBY_VERBS = word_set(
    "paint draw knit sew garden climb hike surf ski dance sing bake fish hunt swim sail skate box snowboard"
    " kayak row dive fence crochet"
    " sculpt juggle boulder blog skateboard windsurf rollerblade birdwatch"
)
SPORTS_AND_INSTRUMENTS = word_set(
    "tennis football soccer basketball chess piano violin cello guitar drums trumpet flute saxophone clarinet"
    " harp bass banjo ukulele"
    " golf hockey rugby cricket volleyball badminton squash handball baseball softball poker bridge go trombone"
    " accordion viola organ"
    " oboe yoga karate judo ballet boxing running swimming cycling climbing gardening fencing skiing surfing"
    " dancing painting knitting"
)
PLACE_NOUNS = word_set(
    "city town village countryside suburbs suburb country coast island valley mountains apartment flat house"
    " studio cottage cabin farm"
    " van houseboat boat commune dorm area region neighborhood neighbourhood state county district outskirts"
    " bungalow condo loft camper caravan"
)
ABSTRACT_PLACES = word_set(
    "fear hope peace sin denial harmony poverty luxury moment past present future cloud clouds shame exile"
    " misery bubble"
)
PRODUCTS = word_set(
    "evernote obsidian notion slack teams trello asana jira linear linux windows macos mac ubuntu chrome firefox"
    " safari edge gmail outlook"
    " postgres postgresql mysql mongodb sqlite redis aws azure gcp github gitlab bitbucket jenkins react vue"
    " angular svelte python java"
    " javascript typescript rust go kotlin swift ruby php elixir haskell scala perl iphone android ios vim"
    " neovim emacs vscode intellij"
    " pycharm sublime zed cursor docker kubernetes podman figma sketch photoshop gimp lightroom excel sheets"
    " airtable todoist things"
    " omnifocus spotify tidal netflix hulu disney+ whatsapp telegram signal discord zoom skype dropbox icloud"
    " onedrive anki zotero"
    " mendeley latex overleaf chatgpt claude gemini copilot duolingo strava garmin fitbit kindle audible bear"
    " logseq roam onenote"
    " tmux fish zsh bash fedora debian arch thunderbird hey fastmail protonmail proton quicken ynab mint"
    " lastpass 1password bitwarden"
)
LANGUAGES_OF_CODE = word_set(
    "python sql java javascript typescript rust go c c++ c# kotlin swift ruby php elixir haskell scala perl r"
    " matlab html css lua fortran"
    " cobol bash excel photoshop docker kubernetes react latex git linux assembly dart julia clojure erlang"
)
SCHOOL_WORDS = word_set(
    "university college school institute academy polytechnic mit stanford oxford harvard cambridge yale"
    " princeton caltech ucla"
    " eth berkeley sorbonne uni kindergarten"
)
DEGREES = word_set(
    "degree phd doctorate master's masters master bachelor's bachelors bachelor mba msc bsc ma ba diploma"
    " certificate jd md minor major"
)
FIXED_PAIRS = phrase_set(
    "rock and roll, mac and cheese, macaroni and cheese, salt and vinegar, black and white, arts and crafts,"
    " drum and bass, fish and chips,"
    " r and b, peanut butter and jelly, dungeons and dragons, marks and spencer, johnson and johnson, procter"
    " and gamble, ham and cheese,"
    " bed and breakfast, gin and tonic, cookies and cream, research and development, track and field, rhythm and"
    " blues, ernst and young,"
    " crate and barrel, bang and olufsen, biscuits and gravy, health and safety, mergers and acquisitions,"
    " supply and demand"
)
