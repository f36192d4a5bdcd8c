"""The verbs whose forms are known.

A verb that no rule asks about is here so that a clause or a plan with it is read right.
"""

from commonplace.adapters.rules.wordsets import word_set

VERBS = word_set(
    """
    abandon abstain accept achieve act add adopt adore afford agree answer appear apply appreciate argue arrange
    arrive ask attend avoid backpack bake ban be bear become begin believe belong bike blog book borrow box break
    breathe brew bring browse budget build burn buy call camp cancel care carry catch celebrate change charge chat
    check cheer choose claim clean climb close coach code collect come commute compete complain complete compose
    consider consume contact continue contribute convert cook cost count crave create crochet cross cry cut cycle
    dance date deal decide delete depend deploy design despise detest develop die dig dine discover discuss
    dislike ditch dive divorce do donate download draw dream drink drive drop earn eat edit eliminate email
    emigrate employ end enjoy enrol enroll enter establish exercise expect experience explain explore face fail
    fall fancy farm fast fear feed feel fence fight find finish fish fix fly focus follow forget found freelance
    garden get give go graduate grill grow guess hail hand handle hang happen hate have head hear help hike hire
    hit hold hope host hunt hurt identify immigrate improve include increase install intend invest invite jog join
    journal juggle jump kayak keep kick kill knit know laugh launch lay lead learn leave lend let lie like limit
    listen live loathe log look lose love maintain major make manage marry mean measure meditate meet mention
    mentor migrate mind miss mix move name need nurse observe offer open operate order organise organize own pack
    paint parent park participate pass pay perform photograph pick plan plant play possess post practice practise
    pray prefer prepare present print produce program promise promote propose publish pull purchase push put quit
    race raise read realise realize receive recommend record recover reduce refuse rehome relax release relocate
    rely remember remove renovate rent repair replace report represent research reside resign respect rest restore
    retire return review ride rise root row run sail save say sculpt search see seem sell send separate serve set
    settle sew share shave shoot shop show sing sit skate skateboard ski skip sleep smoke snore snowboard solve
    speak specialise specialize spend split stand start stay stop stream stretch struggle study stutter subscribe
    succeed suffer support surf survive swap swear swim switch take talk taper teach tell tend test think throw
    tolerate track trade train transfer translate travel treat trust try tune turn tutor type understand uninstall
    unsubscribe update upgrade use utilise utilize vape visit volunteer vote wait wake walk want wash watch wean
    wear weigh welcome win wish wonder work worry worship write yearn
    """
)
