import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.js'
import { TemplateCard, type TemplateCardProps } from './template-card.js'
import classes from './template-card.module.css'
import { fileKindOf, readForm, type ShownTemplate, VARIABLE } from './template-form.js'
import type { PartValues } from './template-parts.js'

/** The values of a template's variables, by the names of readForm. */
export interface TemplateValues {
  body: Record<string, string>
  header: Record<string, string>
  buttons: Record<string, string>
  /** The URL of the header's file. */
  headerMedia?: string
  /** The id of the header's file, if it was uploaded. */
  headerMediaId?: string | null
  parts?: PartValues
}

/** The values of the placeholders for one recipient. Null: no such value. */
export type PlaceholderValues = Record<string, string | null>

/** A contact, or a number with the name for a new contact. */
export type PreviewedRecipient = { contactId: string } | { chatNumber: string; name?: string }

/** The values of the placeholders for a recipient, from the service. Undefined while they load. */
export function usePlaceholders(recipient: PreviewedRecipient | null): PlaceholderValues | undefined {
  const { data } = useQuery({
    queryKey: ['placeholders', recipient],
    enabled: recipient !== null,
    queryFn: ({ signal }) => api.get<{ placeholders: PlaceholderValues }>('/placeholders', { ...recipient }, signal),
    retry: false,
  })
  return data?.placeholders
}

export const NO_VALUES: TemplateValues = { body: {}, header: {}, buttons: {} }

/** Placeholders for values, which are replaced for each recipient. */
export const PLACEHOLDERS = ['first_name', 'full_name', 'email', 'phone_number', 'chat_id'] as const

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g

/** A template as a contact sees it. Variables without a value stay `{{…}}`. */
export function fillPreview(
  template: ShownTemplate,
  values: TemplateValues,
  placeholders?: PlaceholderValues | undefined,
): TemplateCardProps {
  const form = readForm(template)
  const { header } = form
  const resolve = (value: string) => resolvePlaceholders(value, placeholders)
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

/** Replaces the placeholders of a value. Those without a value stay. */
function resolvePlaceholders(value: string, values: PlaceholderValues = {}): string {
  return value.replace(PLACEHOLDER, (placeholder, name: string) => values[name.toLowerCase()] ?? placeholder)
}

/** Preview of a template with the current values. */
export function TemplatePreview({
  template,
  values = NO_VALUES,
  placeholders,
}: {
  template: ShownTemplate
  values?: TemplateValues
  placeholders?: PlaceholderValues | undefined
}) {
  return (
    <Box className={classes.ground}>
      <Box className={classes.bubble}>
        <TemplateCard {...fillPreview(template, values, placeholders)} />
      </Box>
    </Box>
  )
}
