"""Words that are left out of an index by the analyzers of a language."""

STOPWORDS = {
    "english": (
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to "
        "was will with"
    ).split(),
    "german": (
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich die dies dir "
        "doch dort du durch ein eine einem einen einer eines er es euer für hatte hatten hattest hattet hier hinter ich ihr ihre "
        "im in ist ja jede jedem jeden jeder jedes jener jenes jetzt kann kein mein mit muss nach nicht nun nur ob oder ohne "
        "sein seine sich sie sind so und uns unser unter vom von vor war was weil wenn wer werde wie wir wird zu zum zur"
    ).split(),
    "french": (
        "au aux avec ce ces dans de des du elle en et eux il je la le les leur lui ma mais me même mes moi mon ne nos notre "
        "nous on ou par pas pour qu que qui sa se ses son sur ta te tes toi ton tu un une vos votre vous c d j l à m n s t y"
    ).split(),
    "spanish": (
        "de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta "
        "entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros"
    ).split(),
    "italian": (
        "ad al allo ai agli alla alle con da dal dei della delle di e ed è gli i il in io la le lo ma nel nella nelle non per "
        "più se si su sul sulla un una uno"
    ).split(),
    "portuguese": (
        "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito "
        "nos já eu também só pelo pela até isso ela entre depois sem mesmo aos seus quem nas me esse eles você essa num nem"
    ).split(),
    "dutch": (
        "de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat mijn "
        "men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal"
    ).split(),
}
