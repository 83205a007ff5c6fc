import type { Contact } from '../contacts/contact.js'
import type { Organization } from '../organizations/organization.js'

/** The person that placeholders refer to. */
export interface Person extends Pick<Contact, 'full_name' | 'email' | 'phone_number' | 'chat_id'> {
  /** The replacement for a missing first name (unnamedWord); by default the English word. */
  unnamed?: string
}

/** The placeholders and their values; null if the contact has no such value. */
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

/** The value of each placeholder for this person, by name; null if the contact has no such value. */
export function placeholderValues(person: Person): Record<string, string | null> {
  return Object.fromEntries(Object.entries(VALUES).map(([name, read]) => [name, read(person)]))
}

export function hasPlaceholder(value: string): boolean {
  return value.search(PLACEHOLDER) !== -1
}

/**
 * Replaces the placeholders of a value; case and spaces in them do not matter. `unresolved` is the first one without a
 * value: the contact has none, or the placeholder does not exist. `encode` is applied to the inserted values.
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

/** The placeholders of a value that do not exist, as written. */
export function unknownPlaceholders(value: string): string[] {
  return Array.from(value.matchAll(PLACEHOLDER)).flatMap(([placeholder, name = '']) =>
    placeholderValue(name) ? [] : [placeholder],
  )
}

/** Cleans a text as the upstream requires for parameters: no line breaks, tabs or runs of spaces, and trimmed. */
export function toParameterText(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

const UNNAMED = 'there'
/** By language: words that fit after a greeting and do not depend on gender. */
const UNNAMED_IN = new Map([
  ['pt', 'cliente'],
  ['es', 'cliente'],
  ['it', 'cliente'],
  ['fr', 'vous'],
])

/** The value of `{{first_name}}` for a person without a name, in the organization's language if it was chosen. */
export function unnamedWord({ language, language_chosen }: Pick<Organization, 'language' | 'language_chosen'>): string {
  const [languageCode = ''] = language.toLowerCase().split(/[_-]/)
  return (language_chosen && UNNAMED_IN.get(languageCode)) || UNNAMED
}

/** Emoji with modifiers and joiners; keycaps. */
const EMOJI =
  /[0-9#*]\ufe0f?\u20e3|[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}][\u200d\ufe0e\ufe0f\u{e0020}-\u{e007f}]*/gu
const AROUND_NAME = /^[^\p{L}]+|[^\p{L}\p{M}\p{N}]+$/gu

/** The first word of a name that has letters, without emoji and punctuation around it; null if there is none. */
export function firstName(fullName: string | null): string | null {
  const words = (fullName ?? '').replace(EMOJI, ' ').split(/\s+/)
  const first = words.find((word) => /\p{L}/u.test(word))
  return first?.replace(AROUND_NAME, '') ?? null
}

function placeholderValue(name: string): ((person: Person) => string | null) | undefined {
  const key = name.trim().toLowerCase()
  return Object.hasOwn(VALUES, key) ? VALUES[key] : undefined
}
