"""Closed and half-open word classes of English that the rules ask about.

Data only: a longer list is the easiest way to know more.
"""

from types import MappingProxyType

from commonplace.adapters.rules.wordsets import word_set

ADVERBS = word_set(
    "really also just still usually always often mostly mainly currently never actually recently only now both"
    " all even simply"
    " absolutely honestly literally originally primarily finally generally normally typically rarely sometimes"
    " almost already"
    " basically definitely certainly truly quite very pretty kinda officially personally especially particularly"
    " obviously"
    " seriously secretly genuinely totally lately soon probably maybe perhaps possibly ever so too extremely"
    " highly deathly severely"
    " super incredibly somewhat fairly rather deeply happily regularly frequently occasionally constantly daily"
    " weekly"
    " presently permanently temporarily newly unfortunately sadly luckily thankfully hardly barely completely"
    " fully badly"
    " exclusively heavily greatly mildly slightly terribly legally technically practically nearly instead"
)
HEDGES = word_set("maybe perhaps possibly probably supposedly apparently allegedly almost nearly hardly barely")
FREQUENT = word_set(
    "usually always often regularly frequently sometimes occasionally normally typically generally daily weekly mostly"
)
DETERMINERS = word_set("a an the some any my our another several many few both all more lots plenty one")
POINTING = word_set(
    "this that these those your his her its their it them him us you me he she they something anything nothing"
    " everything"
    " someone anyone everyone stuff things here there one ones myself yourself what how when why where who which same"
    " other others each somewhere anywhere nowhere everywhere somebody anybody everybody nobody"
)
PREPOSITIONS = word_set(
    "in on at for with from to as by about into onto over under near around through during without because than"
    " via since until"
    " after before between across against within like but when while where who which that whenever though"
    " although if unless so"
    " using every each not instead except rather whereas then plus including besides called named unlike despite"
)
SUBJECTS = word_set("i we he she it they you this that there everyone everybody people nobody someone these those")
NUMBERS = MappingProxyType(
    {
        "one": 1,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "eleven": 11,
        "twelve": 12,
        "fifteen": 15,
        "twenty": 20,
        "thirty": 30,
        "a": 1,
        "an": 1,
        "couple": 2,
        "few": 3,
        "several": 5,
    }
)

_RELATION_ROWS = {
    "partner": "wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse hubby wifey gf bf",
    "child": (
        "son daughter kid kids child children baby twins sons daughters stepson stepdaughter toddler boys "
        "girls triplets teenager newborn stepkids stepchildren"
    ),
    "sibling": (
        "sister brother sisters brothers sibling siblings stepsister stepbrother half-sister half-brother twin sis bro"
    ),
    "parent": "mother father mom mum dad mama papa parents stepmother stepfather stepmom stepdad ma mommy daddy mam",
    "relative": (
        "grandmother grandfather grandma grandpa granny nana gran grandparents uncle aunt auntie cousin "
        "cousins niece nephew nieces nephews grandson granddaughter grandkids grandchildren godmother "
        "godfather goddaughter godson mother-in-law father-in-law sister-in-law brother-in-law son-in-law "
        "daughter-in-law in-laws family ex ex-wife ex-husband ex-girlfriend ex-boyfriend"
    ),
    "friend": (
        "friend friends roommate roommates flatmate flatmates housemate neighbor neighbour neighbors "
        "neighbours bestie buddy landlord landlady"
    ),
    "colleague": (
        "boss manager colleague colleagues coworker co-worker coworkers supervisor assistant intern mentor "
        "teammate advisor professor teacher doctor dentist therapist coach trainer accountant lawyer vet "
        "client cofounder co-founder tutor nanny babysitter hairdresser"
    ),
    "pet": (
        "dog dogs cat cats puppy puppies kitten kittens rabbit rabbits bunny hamster hamsters parrot parrots "
        "horse horses pony fish goldfish tortoise turtle gecko lizard snake snakes chicken chickens ferret "
        "ferrets bird birds budgie canary goat goats pig pigs duck ducks poodle labrador lab retriever beagle "
        "bulldog terrier dachshund corgi husky greyhound spaniel collie chihuahua pug dalmatian rottweiler "
        "shepherd schnauzer whippet mutt siamese tabby cockatiel cockatoo guinea-pig rat rats mice "
        "iguana tarantula hedgehog alpaca alpacas llama donkey sheep bees hens rooster axolotl macaw pup "
        "pitbull labradoodle goldendoodle malamute maltese sheepdog bulldogs pugs pets pet"
    ),
}
RELATIONS = MappingProxyType({noun: attribute for attribute, nouns in _RELATION_ROWS.items() for noun in nouns.split()})
UNIQUE_RELATIONS = word_set(
    "wife husband partner girlfriend boyfriend fiance fiancé fiancee fiancée spouse hubby wifey gf bf mother"
    " father mom mum dad mama papa"
    " parents boss family ma mam mommy daddy ex-wife ex-husband ex kids children twins"
)
PLURAL_RELATIONS = word_set(
    "kids children twins sons daughters boys girls sisters brothers siblings parents grandparents cousins nieces"
    " nephews grandkids"
    " grandchildren in-laws friends roommates flatmates neighbors neighbours colleagues coworkers dogs cats"
    " puppies kittens rabbits"
    " hamsters parrots horses snakes chickens ferrets birds goats pigs ducks rats mice pets hens bees alpacas"
    " triplets stepkids"
)
RELATION_ADJECTIVES = word_set(
    "older younger big little best twin elder eldest oldest youngest baby late new old first second middle half"
    " good close dear"
    " former current ex great lovely beautiful teenage adopted rescue three-year-old pregnant golden german"
    " french english border"
    " maine guinea persian black white orange ginger russian tiny small only other"
)
ORGANISATIONS = word_set(
    "company team office startup employer organisation organization department school university lab firm agency band"
)
BRITISH = MappingProxyType({"favorite": "favourite", "color": "colour", "flavor": "flavour", "neighbor": "neighbour"})
