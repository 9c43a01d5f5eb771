// The policy of Strategic, the same text as strategic.txt, so that a check needs no network. Made by
// scripts/make_strategic_js.py from rules/strategic_table.py.
export const strategicTable = `\
ab 1
ba 1
Aab 1
Aba 1
Bab 1
Bba 1
aAb 1
aBb 1
aab 1 0
abA 1
abB 1
aba 1 0
abb 1
bAa 1
bBa 1
baA 1
baB 1
baa 1 0
bab 1
bba 1
Aaab 1 0
Aaba 1 0
Aabb 1
Abaa 1 0
Abab 1
Abba 1
Baab 1 0
Baba 0 1
Babb 1
Bbaa 1 0
Bbab 1
Bbba 1
aAab 1 0
aAba 1 0
aAbb 1
aBab 1 0
aBba 0 1
aBbb 1
aaAb 1 0
aaBb 1 0
aaab 1 0 0
aabA 1 0
aabB 1 0
aaba 1 0 0
aabb 1 0
abAa 1 0
abAb 1
abBa 0 1
abBb 1
abaA 1 0
abaB 0 1
abaa 1 0 0
abab 1 1
abbA 1
abbB 1
abba 1 0
abbb 1
bAaa 1 0
bAab 1
bAba 1
bBaa 1 0
bBab 1
bBba 1
baAa 1 0
baAb 1
baBa 1 0
baBb 1
baaA 1 0
baaB 1 0
baaa 1 0 0
baab 1 0
babA 1
babB 1
baba 1 1
babb 1
bbAa 1
bbBa 1
bbaA 1
bbaB 1
bbaa 1 0
bbab 1
bbba 1
AAaab 1 0
AAaba 1 0
AAabb 1
AAbaa 1 0
AAbab 1
AAbba 1
ABaab 1 0
ABaba 1 0
ABabb 1
ABbaa 1 0
ABbab 1
ABbba 1
AaAab 1 0
AaAba 1 0
AaAbb 1
AaBab 1 0
AaBba 1 0
AaBbb 1
AaaAb 1 0
AaaBb 1 0
AaabA 1 0
AaabB 1 0
AabAa 1 0
AabAb 1
AabBa 1 0
AabBb 1
AabaA 1 0
AabaB 0 1
AabbA 1
AabbB 1
AbAaa 1 0
AbAab 1
AbAba 1
AbBaa 1 0
AbBab 1
AbBba 1
AbaAa 1 0
AbaAb 1
AbaBa 1 0
AbaBb 1
AbaaA 1 0
AbaaB 1 0
AbabA 1
AbabB 1
AbbAa 1
AbbBa 1
AbbaA 1
AbbaB 1
BAaab 1 0
BAaba 0 1
BAabb 1
BAbaa 1 0
BAbab 1
BAbba 1
BBaab 1 0
BBaba 0 1
BBabb 1
BBbaa 1 0
BBbab 1
BBbba 1
BaAab 1 0
BaAba 1 0
BaAbb 1
BaBab 1 0
BaBba 0 1
BaBbb 1
BaaAb 1 0
BaaBb 1 0
BaabA 1 0
BaabB 1 0
BabAa 1 0
BabAb 1
BabBa 1 0
BabBb 1
BabaA 1 0
BabaB 1 0
BabbA 1
BabbB 1
BbAaa 1 0
BbAab 1
BbAba 1
BbBaa 1 0
BbBab 1
BbBba 1
BbaAa 1 0
BbaAb 1
BbaBa 1 0
BbaBb 1
BbaaA 1 0
BbaaB 1 0
BbabA 1
BbabB 1
BbbAa 1
BbbBa 1
BbbaA 1
BbbaB 1
aAAab 1 0
aAAba 1 0
aAAbb 1
aABab 1 0
aABba 0 1
aABbb 1
aAaAb 1 0
aAaBb 1 0
aAabA 1 0
aAabB 1 0
aAbAa 1 0
aAbAb 1
aAbBa 0 1
aAbBb 1
aAbaA 1 0
aAbaB 0 1
aAbbA 1
aAbbB 1
aBAab 1 0
aBAba 1 0
aBAbb 1
aBBab 1 0
aBBba 0 1
aBBbb 1
aBaAb 1 0
aBaBb 1 0
aBabA 1 0
aBabB 1 0
aBbAa 1 0
aBbAb 1
aBbBa 0 1
aBbBb 1
aBbaA 1 0
aBbaB 0 1
aBbbA 1
aBbbB 1
aaAAb 1 0
aaABb 0 1
aaAbA 1 0
aaAbB 0 1
aaBAb 0 1
aaBBb 1 0
aaBbA 0 1
aaBbB 1 0
aaaab 1 0 0 0
aaaba 1 0 0 0
aaabb 1 0 0
aabAA 1 0
aabAB 0 1
aabBA 0 1
aabBB 1 0
aabaa 1 0 0 0
aabab 1 0 1
aabba 1 0 0
aabbb 1 0
abAAa 1 0
abAAb 1
abABa 0 1
abABb 1
abAaA 1 0
abAaB 0 1
abAbA 1
abAbB 1
abBAa 1 0
abBAb 1
abBBa 1 0
abBBb 1
abBaA 1 0
abBaB 1 0
abBbA 1
abBbB 1
abaAA 1 0
abaAB 0 1
abaBA 0 1
abaBB 1 0
abaaa 1 0 0 0
abaab 0 1 0
ababa 1 0 0
ababb 1 0
abbAA 1
abbAB 1
abbBA 1
abbBB 1
abbaa 1 0 0
abbab 1 0
abbba 1 0
abbbb 1
bAAaa 1 0
bAAab 1
bAAba 1
bABaa 1 0
bABab 1
bABba 1
bAaAa 1 0
bAaAb 1
bAaBa 1 0
bAaBb 1
bAaaA 1 0
bAaaB 1 0
bAabA 1
bAabB 1
bAbAa 1
bAbBa 1
bAbaA 1
bAbaB 1
bBAaa 1 0
bBAab 1
bBAba 1
bBBaa 1 0
bBBab 1
bBBba 1
bBaAa 1 0
bBaAb 1
bBaBa 1 0
bBaBb 1
bBaaA 1 0
bBaaB 1 0
bBabA 1
bBabB 1
bBbAa 1
bBbBa 1
bBbaA 1
bBbaB 1
baAAa 1 0
baAAb 1
baABa 1 0
baABb 1
baAaA 1 0
baAaB 1 0
baAbA 1
baAbB 1
baBAa 1 0
baBAb 1
baBBa 1 0
baBBb 1
baBaA 1 0
baBaB 1 0
baBbA 1
baBbB 1
baaAA 1 0
baaAB 1 0
baaBA 1 0
baaBB 1 0
baaaa 1 0 0 0
baaab 1 0 0
baaba 1 0 0
baabb 1 0
babAA 1
babAB 1
babBA 1
babBB 1
babaa 1 0 0
babab 1 0
babba 1 0
babbb 1
bbAAa 1
bbABa 1
bbAaA 1
bbAaB 1
bbBAa 1
bbBBa 1
bbBaA 1
bbBaB 1
bbaAA 1
bbaAB 1
bbaBA 1
bbaBB 1
bbaaa 1 0 0
bbaab 1 0
bbaba 1 1
bbabb 1
bbbaa 1 0
bbbab 1
bbbba 1
Aaaaab 1 0 0 0
Aaaaba 1 0 0 0
Aaaabb 1 0 0
Aaabaa 1 0 0 0
Aaabab 1 0 0
Aaabba 1 0 0
Aaabbb 1 0
Aabaaa 1 0 0 0
Aabaab 1 0 0
Aababa 1 0 0
Aababb 1 0
Aabbaa 1 0 0
Aabbab 1 1
Aabbba 1 0
Aabbbb 1
Abaaaa 1 0 0 0
Abaaab 1 0 0
Abaaba 1 0 0
Abaabb 1 0
Ababaa 1 0 0
Ababab 1 0
Ababba 1 1
Ababbb 1
Abbaaa 1 0 0
Abbaab 1 0
Abbaba 1 1
Abbabb 1
Abbbaa 1 0
Abbbab 1
Abbbba 1
Baaaab 1 0 0 0
Baaaba 1 0 0 0
Baaabb 1 0 0
Baabaa 1 0 0 0
Baabab 1 0 1
Baabba 1 0 0
Baabbb 1 0
Babaaa 1 0 0 0
Babaab 1 1 0
Bababa 1 0 0
Bababb 1 0
Babbaa 1 0 0
Babbab 1 0
Babbba 1 0
Babbbb 1
Bbaaaa 1 0 0 0
Bbaaab 1 0 0
Bbaaba 1 0 1
Bbaabb 1 0
Bbabaa 0 1 0
Bbabab 1 0
Bbabba 1 0
Bbabbb 1
Bbbaaa 1 0 0
Bbbaab 1 0
Bbbaba 1 0
Bbbabb 1
Bbbbaa 1 0
Bbbbab 1
Bbbbba 1
aAaaab 1 0 0 0
aAaaba 1 0 0 0
aAaabb 1 0 0
aAabaa 1 0 0 0
aAabab 2 0 1
aAabba 1 0 0
aAabbb 1 0
aAbaaa 1 0 0 0
aAbaab 0 1 0
aAbaba 1 0 0
aAbabb 1 0
aAbbaa 1 0 0
aAbbab 1 0
aAbbba 1 0
aAbbbb 1
aBaaab 1 0 0 0
aBaaba 1 0 0 0
aBaabb 1 0 0
aBabaa 1 0 0 0
aBabab 1 0 1
aBabba 1 0 0
aBabbb 1 0
aBbaaa 1 0 0 0
aBbaab 1 2 0
aBbaba 1 0 0
aBbabb 1 0
aBbbaa 1 0 0
aBbbab 1 0
aBbbba 1 0
aBbbbb 1
aaAaab 1 0 0 0
aaAaba 1 0 0 0
aaAabb 1 0 0
aaAbaa 1 0 0 0
aaAbab 1 0 0
aaAbba 1 0 0
aaAbbb 1 0
aaBaab 1 0 0 0
aaBaba 1 0 0 0
aaBabb 1 0 0
aaBbaa 1 0 0 0
aaBbab 0 1 1
aaBbba 0 1 0
aaBbbb 1 0
aaaAab 1 0 0 0
aaaAba 1 0 0 0
aaaAbb 1 0 0
aaaBab 1 0 0 0
aaaBba 1 0 0 0
aaaBbb 1 0 0
aaaaAb 1 0 0 0
aaaaBb 1 0 0 0
aaaaab 1 0 0 0 0
aaaabA 1 0 0 0
aaaabB 1 0 0 0
aaaaba 1 0 0 0 0
aaabAa 1 0 0 0
aaabAb 1 0 0
aaabBa 1 0 0 0
aaabBb 1 0 0
aaabaA 1 0 0 0
aaabaB 1 0 0 0
aaabaa 1 0 0 0 0
aaabbA 1 0 0
aaabbB 1 0 0
aabAaa 1 0 0 0
aabAab 1 0 0
aabAba 1 0 0
aabAbb 1 0
aabBaa 1 0 0 0
aabBab 0 1 1
aabBba 0 1 1
aabBbb 1 0
aabaAa 1 0 0 0
aabaAb 1 0 0
aabaBa 1 0 0 0
aabaBb 0 1 1
aabaaA 1 0 0 0
aabaaB 1 0 0 0
aabaaa 1 0 0 0 0
aababA 1 0 0
aababB 0 1 1
aabbAa 1 0 0
aabbAb 1 0
aabbBa 0 1 0
aabbBb 1 0
aabbaA 1 0 0
aabbaB 0 1 0
aabbbA 1 0
aabbbB 1 0
abAaaa 1 0 0 0
abAaab 0 1 0
abAaba 1 0 0
abAabb 1 0
abAbaa 1 0 0
abAbab 1 0
abAbba 1 0
abAbbb 1
abBaaa 1 0 0 0
abBaab 1 1 0
abBaba 1 0 1
abBabb 1 0
abBbaa 0 1 0
abBbab 1 0
abBbba 1 0
abBbbb 1
abaAaa 1 0 0 0
abaAab 1 0 0
abaAba 1 0 0
abaAbb 1 0
abaBaa 1 0 0 0
abaBab 1 1 0
abaBba 1 0 0
abaBbb 1 0
abaaAa 1 0 0 0
abaaAb 1 0 0
abaaBa 1 0 0 0
abaaBb 1 0 0
abaaaA 1 0 0 0
abaaaB 1 0 0 0
abaaaa 1 0 0 0 0
abaabA 1 0 0
abaabB 1 0 0
ababAa 1 0 0
ababAb 1 0
ababBa 0 1 1
ababBb 1 0
ababaA 1 0 0
ababaB 0 1 1
ababbA 1 0
ababbB 1 0
abbAaa 1 0 0
abbAab 1 0
abbAba 1 0
abbAbb 1
abbBaa 0 1 0
abbBab 1 0
abbBba 1 0
abbBbb 1
abbaAa 1 0 0
abbaAb 1 0
abbaBa 0 1 0
abbaBb 1 0
abbaaA 1 0 0
abbaaB 0 1 0
abbabA 1 1
abbabB 1 0
abbbAa 1 0
abbbAb 1
abbbBa 1 0
abbbBb 1
abbbaA 1 0
abbbaB 1 0
abbbbA 1
abbbbB 1
abbbbb 1
bAaaaa 1 0 0 0
bAaaab 1 0 0
bAaaba 1 0 0
bAaabb 1 0
bAabaa 1 0 0
bAabab 1 0
bAabba 1 2
bAabbb 1
bAbaaa 1 0 0
bAbaab 1 0
bAbaba 1 1
bAbabb 1
bAbbaa 1 0
bAbbab 1
bAbbba 1
bBaaaa 1 0 0 0
bBaaab 1 0 0
bBaaba 1 0 0
bBaabb 1 0
bBabaa 1 0 0
bBabab 1 0
bBabba 1 0
bBabbb 1
bBbaaa 1 0 0
bBbaab 1 0
bBbaba 2 1
bBbabb 1
bBbbaa 1 0
bBbbab 1
bBbbba 1
baAaaa 1 0 0 0
baAaab 1 0 0
baAaba 1 0 0
baAabb 1 0
baAbaa 1 0 0
baAbab 1 1
baAbba 1 1
baAbbb 1
baBaaa 1 0 0 0
baBaab 1 0 0
baBaba 1 0 0
baBabb 1 0
baBbaa 1 0 0
baBbab 1 0
baBbba 1 0
baBbbb 1
baaAaa 1 0 0 0
baaAab 1 0 0
baaAba 1 0 0
baaAbb 1 0
baaBaa 1 0 0 0
baaBab 1 0 0
baaBba 1 0 0
baaBbb 1 0
baaaAa 1 0 0 0
baaaAb 1 0 0
baaaBa 1 0 0 0
baaaBb 1 0 0
baaaaA 1 0 0 0
baaaaB 1 0 0 0
baaaaa 1 0 0 0 0
baaabA 1 0 0
baaabB 1 0 0
baabAa 1 0 0
baabAb 1 0
baabBa 1 0 0
baabBb 1 0
baabaA 1 0 0
baabaB 1 0 1
baabbA 1 0
baabbB 1 0
babAaa 1 0 0
babAab 1 1
babAba 1 1
babAbb 1
babBaa 1 0 0
babBab 1 0
babBba 1 0
babBbb 1
babaAa 1 0 0
babaAb 1 1
babaBa 1 0 0
babaBb 1 0
babaaA 1 0 0
babaaB 0 1 0
bababA 1 1
bababB 1 0
babbAa 1 0
babbAb 1
babbBa 1 0
babbBb 1
babbaA 1 0
babbaB 1 0
babbbA 1
babbbB 1
babbbb 1
bbAaaa 1 0 0
bbAaab 1 0
bbAaba 1 1
bbAabb 1
bbAbaa 1 0
bbAbab 1
bbAbba 1
bbBaaa 1 0 0
bbBaab 1 0
bbBaba 1 0
bbBabb 1
bbBbaa 1 0
bbBbab 1
bbBbba 1
bbaAaa 1 0 0
bbaAab 1 1
bbaAba 1 1
bbaAbb 1
bbaBaa 1 0 0
bbaBab 1 0
bbaBba 1 0
bbaBbb 1
bbaaAa 1 0 0
bbaaAb 1 0
bbaaBa 1 0 0
bbaaBb 1 0
bbaaaA 1 0 0
bbaaaB 1 0 0
bbaabA 1 0
bbaabB 1 0
bbabAa 1 1
bbabAb 1
bbabBa 1 0
bbabBb 1
bbabaA 1 1
bbabaB 1 0
bbabbA 1
bbabbB 1
bbabbb 1
bbbAaa 1 0
bbbAab 1
bbbAba 1
bbbBaa 1 0
bbbBab 1
bbbBba 1
bbbaAa 1 0
bbbaAb 1
bbbaBa 1 0
bbbaBb 1
bbbaaA 1 0
bbbaaB 1 0
bbbabA 1
bbbabB 1
bbbabb 1
bbbbAa 1
bbbbBa 1
bbbbaA 1
bbbbaB 1
bbbbab 1
bbbbba 1
aaaaaab 1 0 0 0 0 0
aaaaaba 1 0 0 0 0 0
aaaaabb 1 0 0 0 0
aaaabaa 1 0 0 0 0 0
aaaabab 1 0 0 0 0
aaaabba 1 0 0 0 0
aaaabbb 1 0 0 0
aaabaaa 1 0 0 0 0 0
aaabaab 1 0 0 0 0
aaababa 1 0 0 0 0
aaababb 2 0 0 1
aaabbaa 1 0 0 0 0
aaabbab 2 0 0 1
aaabbba 1 0 0 0
aaabbbb 1 0 0
aabaaaa 1 0 0 0 0 0
aabaaab 1 0 0 0 0
aabaaba 1 0 0 0 0
aabaabb 0 9 8 0
aababaa 1 0 0 0 0
aababab 0 27 6 16
aababba 1 0 0 0
aababbb 1 0 0
aabbaaa 1 0 0 0 0
aabbaab 0 3 2 0
aabbaba 1 0 0 0
aabbabb 1 0 0
aabbbaa 1 0 0 0
aabbbab 1 0 0
aabbbba 1 0 0
aabbbbb 1 0
abaaaaa 1 0 0 0 0 0
abaaaab 1 0 0 0 0
abaaaba 1 0 0 0 0
abaaabb 1 2 0 0
abaabaa 1 0 0 0 0
abaabab 8 6 0 5
abaabba 2 0 0 1
abaabbb 1 0 0
ababaaa 1 0 0 0 0
ababaab 3 4 9 0
abababa 4 0 2 3
abababb 1 0 0
ababbaa 1 0 0 0
ababbab 1 0 0
ababbba 1 0 0
ababbbb 1 0
abbaaaa 1 0 0 0 0
abbaaab 0 1 0 0
abbaaba 0 1 0 0
abbaabb 1 0 0
abbabaa 1 0 0 0
abbabab 1 0 0
abbabba 1 0 0
abbabbb 1 0
abbbaaa 1 0 0 0
abbbaab 1 0 0
abbbaba 1 0 0
abbbabb 1 0
abbbbaa 1 0 0
abbbbab 1 0
abbbbba 1 0
abbbbbb 1
baaaaaa 1 0 0 0 0 0
baaaaab 1 0 0 0 0
baaaaba 1 0 0 0 0
baaaabb 1 0 0 0
baaabaa 1 0 0 0 0
baaabab 1 0 0 0
baaabba 1 0 0 0
baaabbb 1 0 0
baabaaa 1 0 0 0 0
baabaab 1 0 0 0
baababa 1 0 0 0
baababb 1 0 0
baabbaa 1 0 0 0
baabbab 1 0 0
baabbba 1 0 0
baabbbb 1 0
babaaaa 1 0 0 0 0
babaaab 1 0 0 0
babaaba 1 0 0 0
babaabb 1 0 0
bababaa 1 0 0 0
bababab 3 4 2
bababba 3 6 7
bababbb 1 0
babbaaa 1 0 0 0
babbaab 1 2 0
babbaba 9 6 4
babbabb 1 0
babbbaa 1 2 0
babbbab 1 0
babbbba 1 0
babbbbb 1
bbaaaaa 1 0 0 0 0
bbaaaab 1 0 0 0
bbaaaba 1 0 0 0
bbaaabb 1 0 0
bbaabaa 1 0 0 0
bbaabab 1 0 0
bbaabba 3 0 2
bbaabbb 1 0
bbabaaa 1 0 0 0
bbabaab 1 0 0
bbababa 19 12 18
bbababb 1 0
bbabbaa 5 12 0
bbabbab 1 0
bbabbba 1 0
bbabbbb 1
bbbaaaa 1 0 0 0
bbbaaab 1 0 0
bbbaaba 2 0 1
bbbaabb 1 0
bbbabaa 1 2 0
bbbabab 1 0
bbbabba 1 0
bbbabbb 1
bbbbaaa 1 0 0
bbbbaab 1 0
bbbbaba 1 0
bbbbabb 1
bbbbbaa 1 0
bbbbbab 1
bbbbbba 1
`;
