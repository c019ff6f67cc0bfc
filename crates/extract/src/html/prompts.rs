//! Phrases of publishing systems that lead away from an article: to other articles, comments, newsletters.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::measure::{is_wide, weight};

/// Maximum weight of a heading that consists of such a phrase.
pub(super) const MAX_HEADING: f64 = 60.0;
/// Maximum weight of an image's credit.
const MAX_CREDIT: f64 = 80.0;
/// Maximum number of words behind a phrase that is the whole of a heading.
const MAX_OBJECT: usize = 2;

/// Kind of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    /// Links to other articles follow.
    Links,
    /// Links to other articles follow, or the title of a chapter goes on: `Most popular languages in Europe`.
    Topic,
    /// Comments, a note on the author or the like follow.
    Notes,
    /// Offer of a newsletter, a subscription or profiles in social networks.
    Offer,
    /// Label of an advertisement, or credit that says that it is one.
    Label,
    /// Credit of the image beside it; elsewhere the same words are those of a list: `Images: none`.
    Credit,
}

/// Phrases before links to other articles, separated by commas, in the languages of most of the web.
const LINKS: &str = "
    also read, don't miss, explore further, latest articles, latest news, latest posts, more articles,
    more from, more news, more on this, more stories, most popular, most read, most viewed, popular posts,
    read also, read more, read next, recent posts, recommended for you, related, related articles,
    related content, related news, related posts, related stories, related topics, see also, share this,
    sharing is caring, similar articles, similar posts, trending, trending now, up next, you may also like,
    you might also like, you may also be interested, you might also be interested, what to read next,
    aktuelle beiträge, auch interessant, auch lesen, beliebte artikel, beliebte beiträge, das könnte dich,
    das könnte euch, das könnte ihnen, das könnte sie, das könnte dir, empfehlungen der redaktion,
    empfehlungen aus der redaktion, interessante artikel, lesen sie auch, lesen sie mehr, lesen sie dazu,
    lies auch, mehr zum thema, mehr zu diesem thema, mehr artikel, mehr nachrichten, mehr news, meistgelesen,
    neueste artikel, neueste beiträge, passend dazu, passend zum thema, schon gelesen,
    themen in diesem artikel, verwandte artikel, verwandte beiträge, verwandte themen, weitere artikel,
    weitere beiträge, weitere meldungen, weitere nachrichten, weitere news, weiterlesen, artikel teilen,
    diesen artikel teilen, ähnliche artikel, ähnliche beiträge, ähnliche themen,
    articles liés, articles récents, articles similaires, dans la même rubrique, les plus lus, lire aussi,
    lire également, sur le même sujet, voir aussi, vous aimerez, à découvrir aussi, à lire aussi,
    artículos relacionados, contenido patrocinado, contenido relacionado, le puede interesar, lea más,
    lea también, lee también, leé también, lo más leído, lo último, más leídas, más noticias,
    notas relacionadas, noticias relacionadas, otras noticias, puede interesarte, puedes ver,
    quizás te interese, te puede interesar, también te puede interesar, temas relacionados, ver también,
    artigos relacionados, leia mais, leia também, mais lidas, mais notícias, matérias relacionadas,
    notícias relacionadas, saiba mais, veja também, você pode gostar,
    articoli correlati, i più letti, leggi anche, potrebbe interessarti, potrebbero interessarti,
    ti potrebbe interessare, vedi anche,
    gerelateerde artikelen, lees ook, lees meer, lees verder, meer nieuws, meest gelezen, läs också, läs mer,
    läs även, mest läst, relaterade artiklar, læs også, mest læste, relaterede artikler, les også, mest lest,
    relaterte artikler, aiheesta lisää, lue myös, luetuimmat,
    czytaj także, czytaj też, czytaj również, czytaj więcej, inne artykuły autora, najczęściej czytane,
    najnowsze, podobne artykuły, podobne wpisy, polecamy, powiązane artykuły, przeczytaj także, przeczytaj też,
    przeczytaj również, zobacz także, zobacz też, zobacz również, nejčtenější, související články, čtěte také,
    přečtěte si také, prečítajte si aj, súvisiace články, ezek is érdekelhetnek, kapcsolódó cikkek,
    olvasta már, articole similare, citește și, citeşte şi,
    benzer haberler, ilgili haberler, çok okunanlar, διαβάστε επίσης, σχετικά άρθρα, материалы по теме,
    похожие записи, похожие материалы, похожие статьи, смотрите также, читайте также, читать также,
    схожі статті, читайте також,
    اقرأ أيضا, اقرأ أيضاً, مواضيع ذات صلة, أخبار ذات صلة, بیشتر بخوانید, مطالب مرتبط, קראו גם, כתבות נוספות,
    यह भी पढ़ें, इसे भी पढ़ें, संबंधित खबरें,
    延伸阅读, 推荐阅读, 推薦閱讀, 热门推荐, 相关文章, 相关新闻, 相关阅读, 相關文章, 相關新聞, おすすめ記事, あわせて読みたい, 人気記事, 最新記事, 関連ニュース, 関連リンク, 関連記事,
    관련 기사, 관련기사, 인기 기사, 추천 기사, artikel terkait, baca juga, berita terkait, bài viết liên quan, tin liên quan,
    xem thêm";

/// Phrases before comments, a note on the author, a form.
const NOTES: &str = "
    about the author, add a comment, comments, follow us, join the conversation, leave a comment,
    leave a reply, post a comment, write a comment, folge uns, folgen sie uns, hinterlasse einen kommentar,
    hinterlasse eine antwort, hinterlassen sie, kommentar schreiben, kommentar verfassen, kommentare,
    newsletter, schreib einen kommentar, schreibe einen kommentar, über den autor, über die autorin,
    commentaires, laisser un commentaire, publier un commentaire, à propos de l'auteur, comentarios,
    deja un comentario, deja una respuesta, sobre el autor, síguenos, comentários, deixe um comentário,
    deixe uma resposta, sobre o autor, commenti, lascia un commento, geef een reactie, laat een reactie achter,
    over de auteur, reacties, kommentarer, dodaj komentarz, komentarze, o autorze, komentáře, hozzászólások,
    comentarii, yorumlar, σχόλια, добавить комментарий, комментарии, об авторе, оставить комментарий,
    коментарі, التعليقات, نظرات, תגובות, 发表评论, 發表評論, コメント, 댓글";

/// Phrases of offers to the reader.
const OFFERS: &str = "
    become a member, follow us, get the latest, if you enjoyed this, like this article, like this story,
    never miss, please subscribe, sign up for, sign up to, stay up to date, subscribe now, subscribe to,
    support our work, to read the full, to view the full, abonnieren sie, folge uns, folgen sie uns,
    gefällt dir, gefällt ihnen, hat ihnen dieser, hat dir dieser, jetzt abonnieren, jetzt anmelden, melde dich,
    melden sie sich, unterstütze unsere, unterstützen sie, abonnez-vous, inscrivez-vous, suivez-nous,
    suscríbete, suscribite, síguenos, siga-nos, assine, inscreva-se, abbonati, iscriviti, seguici,
    schrijf je in, volg ons, följ oss, prenumerera, følg oss, obserwuj nas, zapisz się, iratkozz fel, abone ol,
    подписывайтесь, подпишитесь, підписуйтесь, اشترك";

/// Words before a colon or a name in the credit of an image, which name it as a credit.
const CREDITS: &str = "
    beitragsbild, bildnachweis, bildquelle, bildquellen, crédit photo, foto credit, fotocredit, image credit,
    photo credit, photo credits, symbolbild, symbolfoto, titelbild, titelfoto, 图片来源, 图源";

/// Further words before a colon or a name in a credit. They also begin lines of data.
const IMAGES: &str = "
    bild, bilder, credit, credits, crédit, crédito, créditos, fot, foto, fotografía, fotos, image, imagen,
    images, kép, kuva, photo, photos, picture, video, zdjęcie, фото, 写真, 사진";

/// Labels of advertisements and controls; they are the whole text.
const LABELS: &str = "
    ad, ads, advert, advertisement, anzeige, caption, close, image caption, pubblicità, publicidad,
    publicidade, publicité, advertentie, annons, annonce, mainos, reklama, reklam, hirdetés, schließen,
    werbung, реклама, 广告, 広告, 광고";

/// Returns the kind of phrase that a text begins with.
pub(super) fn prompt(text: &str) -> Option<Prompt> {
    let start: String = text.trim_start().chars().take(120).flat_map(char::to_lowercase).collect();
    // Counters and marks around the phrase: `» 11 Kommentare`, `[Related: ...`.
    let start = start.trim_start_matches(|c: char| !c.is_alphabetic()).replace('’', "'");
    let words: Vec<&str> = start.split_whitespace().collect();
    let start = words.join(" ");
    let first = start.chars().next()?;
    let phrases = PHRASES.get(&first)?;
    let (phrase, kind) = phrases.iter().find(|(phrase, kind)| kind.begins(phrase, &start, text))?;
    let prompt = kind.prompt();
    let rest = start.strip_prefix(phrase).unwrap_or_default();
    Some(if prompt == Prompt::Links && goes_on(rest) { Prompt::Topic } else { prompt })
}

/// Returns true for a text behind a phrase that is more than its object. A colon ends the phrase.
fn goes_on(rest: &str) -> bool {
    let phrase = rest.split([':', '：']).next().unwrap_or_default();
    phrase.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() > MAX_OBJECT
}

/// All phrases by their first character, so that few are compared.
static PHRASES: LazyLock<HashMap<char, Vec<(&str, Kind)>>> = LazyLock::new(|| {
    let mut phrases: HashMap<char, Vec<(&str, Kind)>> = HashMap::new();
    let lists = [
        (LINKS, Kind::Links),
        (NOTES, Kind::Notes),
        (LABELS, Kind::Label),
        (CREDITS, Kind::Credit(Prompt::Label)),
        (IMAGES, Kind::Credit(Prompt::Credit)),
        (OFFERS, Kind::Offer),
    ];
    for (list, kind) in lists {
        for phrase in list.split(',').map(str::trim) {
            phrases.entry(phrase.chars().next().unwrap_or_default()).or_default().push((phrase, kind));
        }
    }
    phrases
});

/// List that a phrase is on.
#[derive(Clone, Copy)]
enum Kind {
    Links,
    Notes,
    Label,
    Credit(Prompt),
    Offer,
}

impl Kind {
    fn prompt(self) -> Prompt {
        match self {
            Kind::Links => Prompt::Links,
            Kind::Notes => Prompt::Notes,
            Kind::Label => Prompt::Label,
            Kind::Credit(prompt) => prompt,
            Kind::Offer => Prompt::Offer,
        }
    }

    /// Returns true if a text, in lower case `start`, begins with the phrase in the way that the list demands.
    fn begins(self, phrase: &str, start: &str, text: &str) -> bool {
        let Some(rest) = start.strip_prefix(phrase) else { return false };
        let ends = !rest.starts_with(char::is_alphanumeric);
        match self {
            // A single word must be the whole text; several words may go on.
            Kind::Links | Kind::Notes if !phrase.contains(' ') => {
                let whole = !rest.contains(char::is_alphabetic) || rest.starts_with(':');
                whole || (phrase.chars().any(is_wide) && weight(text) <= MAX_HEADING)
            }
            Kind::Links => ends,
            Kind::Notes => ends && weight(text) <= MAX_HEADING,
            Kind::Label => !rest.contains(char::is_alphanumeric),
            Kind::Credit(_) => {
                let rest = rest.trim_start();
                let names = rest.starts_with([':', '：', '©']) || rest.starts_with("by ");
                names && rest.contains(char::is_alphabetic) && weight(text) <= MAX_CREDIT
            }
            Kind::Offer => ends,
        }
    }
}

/// Words in the address of a page that sells subscriptions or sends newsletters.
const SUBSCRIPTION_WORDS: [&str; 14] = [
    "abo",
    "abonnement",
    "abonnements",
    "abonnieren",
    "newsletter",
    "newsletters",
    "prenumerata",
    "signup",
    "subscribe",
    "subscriber",
    "subscription",
    "subscriptions",
    "suscribete",
    "suscripcion",
];

/// Returns true for a link to a page that sells subscriptions or sends newsletters.
pub(super) fn is_subscription(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    // The name of a host says nothing about the page.
    let host = address.split_once("//").map_or(&*address, |(_, rest)| rest);
    let path = host.split_once('/').map_or("", |(_, path)| path);
    path.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| SUBSCRIPTION_WORDS.contains(&word))
}

/// Hosts of social networks.
const NETWORKS: [&str; 12] = [
    "bsky.app",
    "facebook.com",
    "instagram.com",
    "linkedin.com",
    "pinterest.com",
    "t.me",
    "threads.net",
    "tiktok.com",
    "twitter.com",
    "whatsapp.com",
    "x.com",
    "youtube.com",
];

/// Returns the social network that a link leads to.
pub(super) fn network(address: &str) -> Option<&'static str> {
    let host = address.split_once("//")?.1.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    NETWORKS
        .into_iter()
        .find(|network| host.strip_suffix(network).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_recognized_with_counters_and_objects() {
        for (text, expected) in [
            ("Related", Some(Prompt::Links)),
            ("[Related: A keynote]", Some(Prompt::Links)),
            ("READ MORE: How it began", Some(Prompt::Links)),
            ("Mehr zum Thema Wasser", Some(Prompt::Links)),
            ("相关阅读：水", Some(Prompt::Links)),
            ("» 11 Kommentare", Some(Prompt::Notes)),
            ("Comments (3)", Some(Prompt::Notes)),
            ("Foto: Ann Author/Example", Some(Prompt::Credit)),
            ("Bildnachweis: Ann Author/Example", Some(Prompt::Label)),
            ("You may also like these ...", Some(Prompt::Links)),
            ("Most popular languages in Europe", Some(Prompt::Topic)),
            ("Credits: 4", None),
            ("- Anzeige -", Some(Prompt::Label)),
            ("Sign up for our newsletter", Some(Prompt::Offer)),
            ("Photography was new then", None),
            ("Bilder einer Ausstellung", None),
            ("Related work in three countries", None),
            ("Trending upwards for years", None),
            ("Read moreover what they said", None),
            ("Comments on the budget", None),
            ("", None),
        ] {
            assert_eq!(prompt(text), expected, "{text}");
        }
    }

    #[test]
    fn addresses_of_subscriptions_and_networks_are_recognized() {
        assert!(is_subscription("https://example.org/newsletter?from=article"));
        assert!(!is_subscription("https://example.org/about/letters-of-1911.html#x"));
        assert!(!is_subscription("https://www.abo.example/university"));
        assert_eq!(network("https://www.facebook.com/low.ford"), Some("facebook.com"));
        assert_eq!(network("https://notfacebook.com/"), None);
    }
}
