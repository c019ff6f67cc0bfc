use std::collections::HashMap;
use std::sync::LazyLock;

use super::analyzer::TokenKind;
use super::language::Language;
use super::opening::separates_sentences;
use super::query_token::QueryToken;

/// Function words, folded like analysed words. Kept short on purpose: a wrongly dropped word costs a result, while a
/// wrongly kept common word costs little, because ranking weights it by rarity.
#[rustfmt::skip]
const LISTS: &[(Language, &str)] = &[
    (Language::English, "a an and any are as at be been being but by can could did didn do does doesn doing done for from had has hasn have haven having he her here him his how i if in into is isn it its me my no nor not of on or our she should shouldn so some such than that the their them then there these they this those to too us was wasn we were weren what when where which while who whom whose why will with would wouldn you your"),
    (Language::German, "aber als am an auch auf aus bei bin bis da das dass dem den denn der des die doch du durch ein eine einem einen einer eines er es fur hat haben ich ihr ihre im in ist ja kann mein mit nach nicht noch nur ob oder sein seine sich sie sind so uber um und uns unter vom von vor war was wenn wer werden wie wir wird wo zu zum zur"),
    (Language::French, "a au aux avec ce ces cette comme comment c d dans de des donc du elle elles en est et etait ete etre il ils j je l la le les leur lui m ma mais me mes mon n ne nos notre nous on ont ou par pas pour qu quand que quel quelle quels quelles qui quoi s sa sans se ses si son sont sur t ta te tu un une vos votre vous y"),
    (Language::Spanish, "a al como con cual cuales cuando de del donde e el ella ellas ellos en entre era es esa ese eso esta este esto fue ha han hay la las le les lo los mas me mi muy no nos o para pero por porque que quien se ser si sin sobre son su sus tu un una unas uno unos y ya yo"),
    (Language::Italian, "a ai al alla alle allo anche c che chi ci come con cosa cui d da dai dal dalla dalle dei del della delle dello di dove e ed era gli ha hanno i il in io l la le lo loro ma mi nei nel nella nelle non o per perche piu quale quali quando quello questa questo se si sia sono su sua sul sulla suo tra un una uno"),
    (Language::Portuguese, "a ao aos as com como da das de do dos e ela ele eles em era essa esse esta este eu foi ha isso isto ja mais mas me na nas nao no nos o onde os ou para pela pelo por porque qual quais quando que quem se sem ser seu seus sua suas sao tem um uma uns voce"),
    (Language::Dutch, "aan al als bij dan dat de der deze die dit door een en er het hij hoe hun ik in is je kan maar me met mijn naar niet nog of om onder ook op over te tot uit van voor waar wanneer wat we werd wie wij worden wordt ze zich zijn zij zo"),
    (Language::Swedish, "alla att av de den det dem denna detta du efter ej eller en ett for fran han har hon hur i ifran inte jag kan med men mot nar och om pa sa samt ska som till under upp ut vad var vi vid vilka vilken"),
    (Language::Danish, "af alle at da de den denne der deres det dette du efter eller en er et for fra han har hun hvad hvem hvor hvordan i ikke jeg kan man med men mod nar og om op pa sa sig skal som til ud var ved vi"),
    (Language::Norwegian, "alle at av da de den denne der dette det du eller en er et etter for fra han har hun hva hvem hvor hvordan i ikke jeg kan man med men mot nar og om opp pa sa seg skal som til ut var ved vi"),
    (Language::Finnish, "ei ettei etta han he ja jo joka jos jossa kun kuin me mika mina miten mutta myos ne niin nyt ole oli on ovat se sen sina ta tai tama te vai vaan"),
    (Language::Polish, "a aby ale by byc byl co czy dla do gdy gdzie i ich im ja jak jako jest jego jej juz kto lub ma mnie na nad nie niz o od oraz po pod przez przy sa sie ta tak ten to tych tym w we z za ze zeby"),
    (Language::Czech, "a aby ale ani bude by byl co do i ja jak jako je jeho jeji jen jeste ji jsem jsou k kde kdo kdyz ktera ktere ktery ma mezi na nebo nez o od po pod podle pro proc proto pri s se si take tak ten to u uz v ve vsak z za ze"),
    (Language::Romanian, "a ai al ale am ar are as au ca care ce cel cu cum de din dupa ei el ea este eu fi fost il in iar la le lui mai nu o pe pentru prin sa sau se si sunt un una unde unei unui"),
    (Language::Hungarian, "a az azt de egy ez ezt es ha hogy hogyan is ki meg mi mert mely mint nem ott s szerint vagy van volt"),
    (Language::Turkish, "ama bir bu cok da daha de icin ile ise kim ki mi nasil ne nerede o olan olarak su ve veya ya"),
    (Language::Russian, "а без бы был была были было в во вот все вы где да для до его ее если есть же за и из или им их к как какая какие какой когда кто ли мне мы на над не нет но о об он она они оно от по под при с со так также там то того только у уже что чтобы эта эти это этот я"),
    (Language::Ukrainian, "а але без був була були було в вже ви вона вони він де для до є за з із і й його її їх як яка яке який які коли мене ми на не ні об от по при та так також то у хто це цей ця чи що щоб я"),
    (Language::Greek, "αν απο αυτη αυτο για δεν εγω ειναι εχει η θα και κατα με μεσα να ο οι οπωσ οταν οτι που πωσ σε στα στη στην στο στον τα τη την τησ τι τισ το τον του τουσ τουσ των ωσ"),
    (Language::Indonesian, "ada adalah akan apa atau bagaimana dalam dan dari dengan di dia ini itu juga kami ke kepada mereka oleh pada saya sebagai tidak untuk yang"),
];

/// Lists that contain a word, as bits.
static BY_WORD: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut by_word = HashMap::new();
    for (bit, (_, words)) in LISTS.iter().enumerate() {
        for word in words.split(' ') {
            *by_word.entry(word).or_insert(0) |= 1 << bit;
        }
    }
    by_word
});

/// Flags the stop words among a query's tokens.
///
/// The language whose list contains most of the words is taken as the language of the query. Stop words of other
/// languages are kept, so that `war` in an English query is not treated as a German auxiliary. The first language needs
/// one hit, the others two, because two words of the same list are rarely a coincidence.
pub(super) fn stop_words_among(text: &str, tokens: &[QueryToken], languages: &[Language]) -> Vec<bool> {
    let lists: Vec<u32> = tokens
        .iter()
        .map(|token| if token.kind == TokenKind::Word { BY_WORD.get(&*token.word).copied().unwrap_or(0) } else { 0 })
        .collect();
    let english = [Language::English];
    let languages = if languages.is_empty() { &english } else { languages };
    let mut best: Option<(usize, u32)> = None;
    for (index, language) in languages.iter().enumerate() {
        let Some(bit) = LISTS.iter().position(|(listed, _)| listed == language) else { continue };
        let hits = lists.iter().filter(|list| *list & (1 << bit) != 0).count();
        let needed = if index == 0 { 1 } else { 2 };
        if hits >= needed && best.is_none_or(|(most, _)| hits > most) {
            best = Some((hits, 1 << bit));
        }
    }
    let list = best.map_or(0, |(_, bit)| bit);
    let has_lowercase = text.chars().any(char::is_lowercase);
    tokens
        .iter()
        .enumerate()
        .map(|(index, token)| {
            is_clitic(text, tokens, index) || (lists[index] & list != 0 && !(has_lowercase && is_name(text, token)))
        })
        .collect()
}

/// Matches `WHO`, `IT`, `US`, and the `A` of `hepatitis A`; callers check that the text is not all capitals.
fn is_name(text: &str, token: &QueryToken) -> bool {
    let source = &text[token.start..token.end];
    let is_capitals = source.bytes().all(|byte| byte.is_ascii_uppercase());
    is_capitals && (source.len() >= 2 || source != "I" && !begins_sentence(&text[..token.start]))
}

/// Returns true if the next word after `before` begins a sentence, as far as punctuation tells.
fn begins_sentence(before: &str) -> bool {
    let words = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    words.is_empty() || separates_sentences(&before[words.len()..])
}

/// Matches the remains of an apostrophe: the `s` of `Boeing's`, the `l` of `l'avion`, both halves of `don't`.
fn is_clitic(text: &str, tokens: &[QueryToken], index: usize) -> bool {
    let token = &tokens[index];
    if token.kind != TokenKind::Word {
        return false;
    }
    let apostrophe = |c: &char| matches!(c, '\'' | '’' | 'ʼ');
    let before = text[..token.start].chars().next_back().filter(apostrophe).is_some()
        && index > 0
        && text[..token.start].trim_end_matches(|c| apostrophe(&c)).ends_with(char::is_alphanumeric);
    let mut after = text[token.end..].chars();
    let followed = after.next().filter(apostrophe).is_some() && after.clone().next().is_some_and(char::is_alphanumeric);
    let negation = followed
        && token.word.ends_with('n')
        && matches!(after.next(), Some('t' | 'T'))
        && !after.next().is_some_and(char::is_alphanumeric);
    let word = &*token.word;
    negation
        || (before && matches!(word, "s" | "t" | "d" | "m" | "ll" | "re" | "ve"))
        || (followed && matches!(word, "l" | "d" | "j" | "c" | "m" | "n" | "s" | "t" | "qu"))
}

#[cfg(test)]
mod tests {
    use super::super::{Analyzer, Token};
    use super::*;

    /// A listed word that the analysis folds or splits would never match.
    #[test]
    fn listed_words_equal_their_analysed_form() {
        for (language, list) in LISTS {
            for listed in list.split(' ') {
                let mut words = Vec::new();
                Analyzer::new(Some(*language)).tokens(listed, |token: Token<'_>| words.push(token.word.to_owned()));
                assert_eq!(words, [listed], "{}", language.code());
            }
        }
    }
}
