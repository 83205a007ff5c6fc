import type { Contact } from '../contacts/contact.js'
import type { Organization } from '../organizations/organization.js'

/** The person a placeholder is about. */
export interface Person extends Pick<Contact, 'full_name' | 'email' | 'phone_number' | 'chat_id'> {
  /** What stands for the first name where the name has none (unnamedWord); left out, it is the English word. */
  unnamed?: string
}

/** What may stand in the value of a parameter, and what it becomes (spec 4.4); null where the contact has nothing of the kind. */
const VALUES: Record<string, (person: Person) => string | null> = {
  first_name: ({ full_name, unnamed = UNNAMED }) => firstName(full_name) ?? unnamed,
  full_name: ({ full_name }) => full_name,
  email: ({ email }) => email,
  phone_number: ({ phone_number }) => phone_number,
  chat_id: ({ chat_id }) => chat_id,
}

/** As people write them: `{{first_name}}, {{full_name}}, …`. */
export const PLACEHOLDERS = Object.keys(VALUES)
  .map((name) => `{{${name}}}`)
  .join(', ')

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g

/** What each placeholder becomes for this person, by its name; null where the contact has nothing of the kind. */
export function placeholderValues(person: Person): Record<string, string | null> {
  return Object.fromEntries(Object.entries(VALUES).map(([name, read]) => [name, read(person)]))
}

/** Whether something in a value is to be replaced. */
export function hasPlaceholder(value: string): boolean {
  return value.search(PLACEHOLDER) !== -1
}

/**
 * Replaces the placeholders of a value, in any case and with any space around their names. `unresolved` is the first one
 * that resolves to nothing: the contact has no such value, or there is no such placeholder. `encode` is applied to what is put in.
 */
export function resolvePlaceholders(
  value: string,
  person: Person,
  encode: (text: string) => string = (text) => text,
): { text: string; unresolved: string | null } {
  let unresolved: string | null = null
  const text = value.replace(PLACEHOLDER, (placeholder, name: string) => {
    const resolved = toParameterText(placeholderValue(name)?.(person) ?? '')
    if (resolved === '') unresolved ??= placeholder
    return encode(resolved)
  })
  return { text, unresolved }
}

/** The placeholders of a value that nobody has, as they stand there. */
export function unknownPlaceholders(value: string): string[] {
  return Array.from(value.matchAll(PLACEHOLDER)).flatMap(([placeholder, name = '']) =>
    placeholderValue(name) ? [] : [placeholder],
  )
}

/** A text as the upstream takes it for a parameter: no line breaks, no tabs, no runs of spaces, nothing around it. */
export function toParameterText(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

const UNNAMED = 'there'
/** By language: words that fit behind a greeting and are the same for women and men. */
const UNNAMED_IN = new Map([
  ['pt', 'cliente'],
  ['es', 'cliente'],
  ['it', 'cliente'],
  ['fr', 'vous'],
])

/** What `{{first_name}}` becomes for a person without a name, by the organization's language where that was chosen. */
export function unnamedWord({ language, language_chosen }: Pick<Organization, 'language' | 'language_chosen'>): string {
  const [spoken = ''] = language.toLowerCase().split(/[_-]/)
  return (language_chosen && UNNAMED_IN.get(spoken)) || UNNAMED
}

/** Emoji with what modifies or joins them; keycaps. */
const EMOJI =
  /[0-9#*]\ufe0f?\u20e3|[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}][\u200d\ufe0e\ufe0f\u{e0020}-\u{e007f}]*/gu
const AROUND_NAME = /^[^\p{L}]+|[^\p{L}\p{M}\p{N}]+$/gu

/** The first word of a name that has letters, without emoji and punctuation around it; null where there is none. */
export function firstName(fullName: string | null): string | null {
  const words = (fullName ?? '').replace(EMOJI, ' ').split(/\s+/)
  const first = words.find((word) => /\p{L}/u.test(word))
  return first?.replace(AROUND_NAME, '') ?? null
}

function placeholderValue(name: string): ((person: Person) => string | null) | undefined {
  const key = name.trim().toLowerCase()
  return Object.hasOwn(VALUES, key) ? VALUES[key] : undefined
}
