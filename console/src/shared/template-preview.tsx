import { Box } from '@mantine/core'
import type { Contact } from '../api/types.js'
import { TemplateCard, type TemplateCardProps } from './template-card.js'
import classes from './template-card.module.css'
import { fileKindOf, readForm, type ShownTemplate, VARIABLE } from './template-form.js'

/** What the variables of a template are filled with, by the names that readForm gives them. */
export interface TemplateValues {
  body: Record<string, string>
  header: Record<string, string>
  buttons: Record<string, string>
  /** The address of the file above the body. */
  headerMedia?: string
}

/** Whose values stand in place of `{{first_name}}` and the like. */
export type PreviewPerson = Pick<Contact, 'full_name' | 'email' | 'phone_number' | 'chat_id'>

export const NO_VALUES: TemplateValues = { body: {}, header: {}, buttons: {} }

/** What may stand in a value, and is replaced for each person. */
export const PLACEHOLDERS = ['first_name', 'full_name', 'email', 'phone_number', 'chat_id'] as const

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g

/** A template as a contact would see it; what has no value yet stays `{{…}}`. */
export function fillPreview(
  template: ShownTemplate,
  values: TemplateValues,
  person?: PreviewPerson,
): TemplateCardProps {
  const form = readForm(template)
  const { header } = form
  const resolve = (value: string) => resolvePlaceholders(value, person)
  const fill = (text: string, given: Record<string, string>) =>
    text.replace(VARIABLE, (variable, name: string) => resolve(given[name]?.trim() || variable))
  const fileKind = fileKindOf(form)
  return {
    header: header?.kind === 'text' ? fill(header.text, values.header) : null,
    place:
      header?.kind === 'location' ? { name: values.header.name ?? '', address: values.header.address ?? '' } : null,
    file: fileKind && { kind: fileKind, url: values.headerMedia?.trim() || null, filename: null },
    body: fill(form.body.text, values.body),
    footer: form.footer,
    buttons: form.buttons.map(({ kind, text }) => ({ kind, text })),
  }
}

/** Replaces placeholders in a value by what this person has of the kind. Without a person they stay. */
export function resolvePlaceholders(value: string, person: PreviewPerson | undefined): string {
  if (!person) return value
  const { full_name, email, phone_number, chat_id } = person
  const known: Record<string, string | null> = {
    first_name: full_name?.split(/\s+/).find((word) => /\p{L}/u.test(word)) ?? 'there',
    full_name,
    email,
    phone_number,
    chat_id,
  }
  return value.replace(PLACEHOLDER, (placeholder, name: string) => known[name.toLowerCase()] ?? placeholder)
}

/** Shows a template, filled with the values that there are so far. */
export function TemplatePreview({
  template,
  values = NO_VALUES,
  person,
}: {
  template: ShownTemplate
  values?: TemplateValues
  person?: PreviewPerson
}) {
  return (
    <Box className={classes.ground}>
      <Box className={classes.bubble}>
        <TemplateCard {...fillPreview(template, values, person)} />
      </Box>
    </Box>
  )
}
