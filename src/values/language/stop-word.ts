import { createRequire } from 'node:module';
import { wordsOf } from './word.js';

/** Tells words too common to search for. */
interface StopWords {
  has(word: string): boolean;
}

/** Our lists by base language. Stored indexes hold no word of them: to take one out, indexes must be built anew. */
const LISTS: Readonly<Record<string, string>> = {
  en: `a about above after again against all am an and any are aren't as at be because been before being below between
    both but by can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further
    had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how how's i
    i'd i'll i'm i've if in into is isn't it it's its itself let's me more most mustn't my myself no nor not of off on
    once only or other ought our ours ourselves out over own same shan't she she'd she'll she's should shouldn't so some
    such than that that's the their theirs them themselves then there there's these they they'd they'll they're they've
    this those through to too under until up very was wasn't we we'd we'll we're we've were weren't what what's when
    when's where where's which while who who's whom why why's with won't would wouldn't you you'd you'll you're you've
    your yours yourself yourselves`,
  de: `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei bin bis bist da damit dann das dass
    daß dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine
    einem einen einer eines er es etwas euch euer eure für gegen habe haben hat hatte hatten hier hin hinter ich ihm ihn
    ihnen ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene kann kein keine können man
    manche mein meine mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine sich sie sind so
    solche soll sollte sondern sonst über um und uns unser unter viel vom von vor während war waren warst was weg weil
    weiter welche wenn werde werden wie wieder will wir wird wirst wo wollen wollte würde würden zu zum zur zwar zwischen`,
  fr: `à a ai aie aient aies ait as au aura aurait aux avaient avait avec avez avoir avons ayant ayez c ce ceci cela ces
    cet cette d dans de des du elle elles en es est et étaient étais était étant été étée étées êtes étés être eu eue
    eues eus eut eux furent fus fut fût il ils j je l la le les leur leurs lui m ma mais me même mes moi mon n ne nos
    notre nous on ont ou où par pas pour qu que quel quelle quelles quels qui s sa sans se sera serait ses si soi soient
    sois soit sommes son sont suis sur t ta te tes toi ton tu un une vos votre vous y`,
  es: `a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el él ella ellas
    ellos en entre era eran eres es esa esas ese eso esos esta está estaba estáis estamos están estando estar estas estás
    este esto estos estoy fue fueron ha habéis había han has hasta hay haya he hemos la las le les lo los más me mi mí
    mía mías mío míos mis mucho muchos muy nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o os otra
    otras otro otros para pero poco por porque que qué quien quienes se sea ser si sí sido sin sobre sois somos son soy
    su sus suya suyas suyo suyos también tanto te tenemos tengo ti tiene tienen todo todos tu tú tus tuya tuyas tuyo
    tuyos un una uno unos vosotras vosotros vuestra vuestras vuestro vuestros y ya yo`,
  it: `a abbia abbiamo ad agl agli ai al all alla alle allo anche avere aveva avevano c che chi ci coi col come con
    contro cui da dagl dagli dai dal dall dalla dalle dallo degl degli dei del dell della delle dello di dove e è ed era
    erano essere fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio ne negl negli nei
    nel nell nella nelle nello noi non nostra nostro o per perché più quale quanta quanto quella quelle quelli quello
    questa queste questi questo se sei si sia siamo siete sono sta su sua sue sugl sugli sui sul sull sulla sulle sullo
    suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra vostro`,
  pt: `a ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela delas dele deles depois do dos e é
    ela elas ele eles em entre era eram essa essas esse esses esta está estas este estes eu foi foram há isso isto já lhe
    lhes mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nossas nosso nossos num numa nuns
    o os ou para pela pelas pelo pelos por qual quando que quem se sem ser será seu seus só são sua suas também te tem
    têm teu teus tu tua tuas um uma umas você vocês vos`,
  nl: `aan af al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er ge
    geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me
    meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u
    uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zei zelf zich zij zijn zo
    zonder zou`,
  da: `ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller
    en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor i ikke ind jeg jer jo kunne
    man mange med meget men mig min mine mit mod ned noget nogle nu når og også om op os over på selv sig sin sine sit
    skal skulle som sådan thi til ud under var vi vil ville vor være været`,
  sv: `alla allt att av blev bli blir blivit de dem den denna deras dess dessa det detta dig din dina ditt du där då efter ej
    eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan
    kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina
    sitta själv skulle som så sådan till under upp ut utan vad var vara varför varit varje vars vart vem vi vid vilken vår
    våra vårt än är åt över`,
  no: `å alle at av bare begge ble blei bli blir blitt både da de deg dei deim deira dem den denne der dere deres det
    dette di din disse ditt du eller en enn er et ett etter for fordi fra før ha hadde han hans har hennar henne hennes
    her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke ingen inn inni ja jeg kan kom kun kunne man mange med
    meg men mer min mitt mot mye måte ned noe noen nå når og også om opp oss over på samme seg selv si siden sin sine
    sitt skal skulle slik som så til um under ut uten var ved vi vil ville vore vår være vært`,
  fi: `ei eivät emme en et ette että he heidän heidät heihin heille heissä heistä heitä hän häneen hänelle hänen hänessä
    hänestä hänet häntä itse ja jo johon joiden joihin joille joissa joista joita joka jolla jolle jona jonka jos jossa josta
    jota jotka kanssa keiden ketkä ketä koska kuin kuka kun me meidän meille meitä mikä minkä minua minulla minulle minun minut
    minä missä mistä mitkä mitä mukaan mutta ne niiden niihin niille niin niissä niistä niitä noiden noin nuo nyt näiden
    näihin näissä näitä nämä ole olemme olen olet olette oli olimme olin olisi olivat olla on ovat poikki se sekä sen siihen
    siinä siitä silla sille sinua sinulla sinulle sinun sinut sinä sitä tai te teidän teille teitä tuo tuohon tuon tuota tähän
    tällä tämä tämän tässä tästä tätä vaan vai vaikka yli`,
  ru: `а без более больше будет будто бы был была были было быть в вам вас вдруг ведь во вот впрочем все всегда всего
    всех всю вы где да даже два для до другой его ее ей ему если есть еще ж же за зачем здесь и из или им иногда их к как
    какая какой когда конечно кто куда ли лишь лучше между меня мне много может можно мой моя мы на над надо наконец нас
    не него нее ней нельзя нет ни нибудь никогда ним них ничего но ну о об один он она они опять от перед по под после
    потом потому почти при про раз разве с сам свою себе себя сейчас со совсем так такой там тебя тем теперь то тогда
    того тоже только том тот три тут ты у уж уже хорошо хоть чего чем через что чтоб чтобы чуть эти это этого этой этом
    этот эту я`,
  hu: `a abban ahhoz ahogy aki akik akkor alatt által általában amely amelyek amelyet ami amíg amikor amit át az azért azok
    azon azonban azt aztán azután azzal be belül benne cikk csak de e ebben eddig egész egy egyéb egyes egyetlen egyik egyre
    ehhez ekkor el ellen első előtt elég én éppen és esetleg ez ezek ezen ezt ezzel fel felé hanem ha hogy hogyan igen így
    illetve ilyen ison ismét itt jó jól kell keresztül ki kívül között közül le legalább lehet lenne lenni lesz lett ma maga
    magát majd már más másik meg még mellett mert mi miért mik milyen mind minden mindig mint mintha mit mivel most nagy
    nagyon ne nekem néha néhány nélkül nem nincs ő ők olyan ott össze pedig persze rá s saját sem semmi sok sokat számára
    szemben szerint szinte talán te tehát teljes több tovább új úgy utolsó után vagy vagyis valaki valami való van vannak
    vele vissza viszont volna volt voltak`,
  ro: `a abia acea aceasta această aceea acel acela acele acelea acest acesta aceste aceşti ai aici al ale alt alte am apoi ar
    are as asta astfel atât atunci au avea avem aveţi azi ca că căci când care cât către ce cel cele cei cine cu cum da dacă
    dar de deci deja deşi din dintre doar după ea ei el ele era este eu face fără fi fie fiecare fiind fost îi îl în încă
    între îşi însă la le li lor lui mai mea mei mele meu mi mie mine mult multe mulţi ne nici nimic noastre nostru noi nu o
    or ori până pe pentru peste poate prin sa să sale sau său se şi sub sunt suntem ta te toate tot toţi totuşi tu un una
    unde unei unele unor unui va vă voi vom vor vostru`,
  tr: `acaba ama ancak arada aslında ayrıca bana bazı belki ben benden beni benim beri bile bir birçok biri birkaç birşey biz
    bize bizi bizim böyle bu buna bunda bundan bunlar bunları bunu bunun burada çok çünkü da daha dahi de defa değil diğer
    diye dolayı eden eğer en gibi göre hala hangi hem henüz hep hepsi her herhangi herkes hiç hiçbir için ile ise işte kadar
    karşın kendi kez ki kim kime kimi mı mi mu mü nasıl ne neden nerde nerede nereye niye o olan olarak oldu olduğu olmak
    olsa on ona ondan onlar onları onların onu onun oysa öyle pek rağmen sadece sanki sen senden seni senin siz size sizi
    sizin sonra şey şu şuna şunu tarafından tüm üzere var ve veya ya yani yapmak yerine yine yoksa zaten`,
};

/** Base languages whose lists the package has, by its names for them. */
const PACKAGED: Readonly<Record<string, string>> = {
  ar: 'ara',
  bg: 'bul',
  ca: 'cat',
  cs: 'ces',
  el: 'ell',
  eu: 'eus',
  fa: 'fas',
  ga: 'gle',
  gl: 'glg',
  hi: 'hin',
  hy: 'hye',
  id: 'ind',
};

/** Base languages that share the list of another. */
const SHARED: Readonly<Record<string, string>> = { nb: 'no', nn: 'no' };

// 240 KB that most schemas never ask for: it loads with the first text in one of its languages.
const load = () => createRequire(import.meta.url)('stopword') as Readonly<Record<string, readonly string[]>>;

const known = new Map<string, StopWords>();
const NONE: StopWords = new Set();

/** The stop words of a base language; none where there is no list. */
export function stopWords(base: string): StopWords {
  const found = known.get(base);
  if (found) return found;
  const words = listed(Object.hasOwn(SHARED, base) ? SHARED[base] : base);
  if (!words) return NONE;
  const made = base === 'el' ? greek(words) : new Set(words);
  known.set(base, made);
  return made;
}

function listed(base: string): readonly string[] | undefined {
  if (Object.hasOwn(LISTS, base)) return LISTS[base].split(/\s+/);
  if (!Object.hasOwn(PACKAGED, base)) return undefined;
  // as the words of texts are written; an entry of several words would never meet one
  const entries = load()[PACKAGED[base]].map(wordsOf);
  return entries.flatMap((words) => (words.length === 1 ? words : []));
}

/** The Greek list has neither accents nor the sigma that ends words. */
function greek(words: readonly string[]): StopWords {
  const set = new Set(words);
  const folded = (word: string): string => word.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('ς', 'σ');
  return { has: (word) => set.has(folded(word)) };
}
