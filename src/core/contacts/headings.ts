import { unguardFormula } from '../../lib/text/formula-guard.js'
import { normalizeText } from '../../lib/text/normalize.js'

/** A field that a table may have for a contact. */
export type ContactField = 'phone_number' | 'full_name' | 'email' | 'tags' | NamedField

/** What a heading stands for. Of several columns of one field, the one of the lowest rank is read first. */
export interface Heading {
  field: ContactField
  rank: number
}

/** The fields that only headings of their own name stand for. */
const NAMED_FIELDS = [
  'chat_id',
  'user_id',
  'allow_broadcast',
  'archived',
  'blocked',
  'bot_status',
  'source',
  'contact_summary',
  'opted_out_at',
] as const
type NamedField = (typeof NAMED_FIELDS)[number]

/** `behind`: of an address, or of a landline. `unsure`: it may be anything that is counted. */
export const NUMBER_RANKS = { whatsapp: 0, mobile: 1, plain: 2, behind: 3, unsure: 4 }

/** `full`: the whole name, or, beside a last name only, the first one. */
export const NAME_RANKS = { full: 0, first: 1, middle: 2, last: 3 }

// Words in English, Portuguese and Spanish, without accents. A heading is known if it consists of words of its field
// and of words beside them that change nothing. docs/import-export.md lists them.
const words = (text: string) => text.split(/\s+/)
const WHATSAPP = words('whatsapp whats wpp zap wanumber wano')
const MOBILE = words('mobile mobil movil moviles movel telemovel cell cel cellular celular celulares msisdn sms')
const PHONE = words(
  'phone phones telephone telephones telefone telefones telefono telefonos fone fones fono tel telf tlf tfno',
)
const UNSURE = words('number numbers numero numeros contato contacto contactno')
const FIRST_NAME = words('firstname givenname forename fname primeironome primernombre nombredepila prenome')
const MIDDLE_NAME = words('middlename additionalname segundonome segundonombre nomedomeio')
const LAST_NAME = words(
  'lastname familyname surname lname sobrenome ultimonome apellido apellidos apellidopaterno apellidomaterno primerapellido segundoapellido',
)
const FULL_NAME = words(
  'name fullname displayname nome nomecompleto nomeesobrenome nombre nombrecompleto nombreyapellido nombreyapellidos',
)
const EMAIL = words('email emails mail correo correos')
const TAGS = words('tag tags label labels etiqueta etiquetas marcadores categories categorias groupmembership')
const BEHIND = words('default address billing shipping cobranca entrega facturacion envio fixo fijo landline')
const OWNER = words(
  'contact contato contacto customer client cliente person persona pessoa lead subscriber your seu su tu do da de del of the',
)
const PLACE = words(
  'home work business other office personal primary main principal preferred residencial casa comercial trabalho trabajo particular pessoal outro otro',
)
const AROUND_NUMBER = words(
  'no nr nro num n ou or o y e and full user value valor e164 comddd cddd conlada comddi comddieddd withcountrycode comcodigodopais concodigodelpais concodigodepais required optional obrigatorio opcional obligatorio',
)
const AROUND_EMAIL = words('address direccion endereco electronico eletronico value valor')
const DIGITS = [...'0123456789']

/** A heading of more digits is a value. */
const VALUE = /\d{3}/
const MAX_LENGTH = 60

const isNumber = isMadeOf(WHATSAPP, MOBILE, PHONE, UNSURE, BEHIND, OWNER, PLACE, AROUND_NUMBER, DIGITS)

/** The first one that is true says what the heading is. */
const KINDS: readonly [field: ContactField, rank: number, test: (folded: string) => boolean][] = [
  ['phone_number', NUMBER_RANKS.whatsapp, (folded) => isNumber(folded) && hasOneOf(folded, WHATSAPP)],
  ['phone_number', NUMBER_RANKS.mobile, (folded) => isNumber(folded) && hasOneOf(folded, MOBILE)],
  [
    'phone_number',
    NUMBER_RANKS.behind,
    (folded) => isNumber(folded) && hasOneOf(folded, PHONE) && hasOneOf(folded, BEHIND),
  ],
  ['phone_number', NUMBER_RANKS.plain, (folded) => isNumber(folded) && hasOneOf(folded, PHONE)],
  ['phone_number', NUMBER_RANKS.unsure, oneOf(UNSURE, OWNER, DIGITS)],
  ['full_name', NAME_RANKS.first, oneOf(FIRST_NAME, OWNER, BEHIND, DIGITS)],
  ['full_name', NAME_RANKS.middle, oneOf(MIDDLE_NAME, OWNER, BEHIND, DIGITS)],
  ['full_name', NAME_RANKS.last, oneOf(LAST_NAME, OWNER, BEHIND, DIGITS)],
  ['full_name', NAME_RANKS.full, oneOf(FULL_NAME, OWNER, BEHIND, DIGITS)],
  ['email', 0, oneOf(EMAIL, AROUND_EMAIL, OWNER, PLACE, BEHIND, DIGITS)],
  ['tags', 0, oneOf(TAGS, OWNER)],
]

/** What the heading of a column stands for, whatever its case, accents and punctuation; null if it is not known. */
export function readHeading(heading: string): Heading | null {
  // Area codes are in a column of their own, or a hint in brackets.
  const folded = foldHeading(heading.replace(/\(ddd\)/i, ''))
  if (folded.length > MAX_LENGTH || VALUE.test(folded.replace('e164', ''))) return null
  const named = folded === 'chatnumber' ? 'chat_id' : NAMED_FIELDS.find((field) => field.replaceAll('_', '') === folded)
  if (named) return { field: named, rank: 0 }
  const [field, rank = 0] = KINDS.find(([, , test]) => test(folded)) ?? []
  return field === undefined ? null : { field, rank }
}

/** The letters and digits of a heading, without case and accents. */
export function foldHeading(heading: string): string {
  return normalizeText(unguardFormula(heading)).replace(/[^\p{L}\p{N}]+/gu, '')
}

/** The headings (folded) of the column that says of what kind the number below this one is, as Google writes them. */
export function labelHeadings(heading: string): readonly string[] {
  const number = /^phone(\d+)value$/.exec(foldHeading(heading))?.[1]
  return number === undefined ? [] : [`phone${number}label`, `phone${number}type`]
}

/** Whether a word for the kind of a number (`Mobile`, `* Celular`) says that it is for messages. */
export function isMobileLabel(label: string): boolean {
  return hasOneOf(foldHeading(label), [...WHATSAPP, ...MOBILE])
}

/** Consists of one of the words, and of words beside it. */
function oneOf(meant: readonly string[], ...around: (readonly string[])[]) {
  const isKnown = isMadeOf(meant, ...around)
  return (folded: string) => isKnown(folded) && hasOneOf(folded, meant)
}

/** Consists of these words only. Not a regular expression: there are many ways to divide `nonono`. */
function isMadeOf(...lists: (readonly string[])[]) {
  const all = lists.flat()
  return (folded: string) => {
    const isEnd = [true]
    for (let at = 0; at < folded.length; at++) {
      if (isEnd[at]) for (const word of all) if (folded.startsWith(word, at)) isEnd[at + word.length] = true
    }
    return folded !== '' && isEnd[folded.length] === true
  }
}

function hasOneOf(folded: string, meant: readonly string[]): boolean {
  return meant.some((word) => folded.includes(word))
}
