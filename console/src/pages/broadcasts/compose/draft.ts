import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { type HeaderMedia, NO_HEADER_MEDIA, toHeaderMediaFields } from '../../../shared/templates/header-media.js'
import {
  fileKindOf,
  LOCATION_VARIABLES,
  type ShownTemplate,
  type TemplateForm,
} from '../../../shared/templates/template-form.js'
import { toInstant } from './schedule/zoned.js'

export const AUDIENCES = ['all', 'tags', 'contacts', 'list'] as const
export type AudienceKind = (typeof AUDIENCES)[number]

/** A broadcast that is being composed. */
export interface Draft extends HeaderMedia {
  name: string
  /** The key of the template (see keyOf), or ''. */
  template: string
  body: Record<string, string>
  header: Record<string, string>
  buttons: Record<string, string>
  /** Null until one is chosen: there is no default, so that nothing is sent to all contacts by mistake. */
  audience: AudienceKind | null
  tags: string[]
  contacts: InboxContact[]
  /** Pasted rows, or a CSV file. */
  list: string | File
  isLater: boolean
  /** `YYYY-MM-DD HH:mm:ss` in the organization's time zone. */
  at: string | null
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  template: '',
  body: {},
  header: {},
  buttons: {},
  ...NO_HEADER_MEDIA,
  audience: null,
  tags: [],
  contacts: [],
  list: '',
  isLater: false,
  at: null,
}

/** A name may exist in several languages. */
export function keyOf({ name, language }: ShownTemplate): string {
  return `${name} ${language}`
}

/** Names of variables that usually hold the recipient's name. */
const FIRST_NAMES = /^(first_?name|name|nome|primeiro_?nome)$/i

/** Fields for all variables of a template. Those for a name start with the first name's placeholder. */
export function fieldsOf(form: TemplateForm): Pick<Draft, 'body' | 'header' | 'buttons' | keyof HeaderMedia> {
  const initial = (name: string) => [name, FIRST_NAMES.test(name) ? '{{first_name}}' : '']
  return {
    body: Object.fromEntries(form.body.variables.map(initial)),
    header: Object.fromEntries(
      form.header?.kind === 'location'
        ? LOCATION_VARIABLES.map((name) => [name, ''])
        : headerVariables(form).map(initial),
    ),
    buttons: Object.fromEntries(form.buttons.flatMap(({ parameter }) => (parameter === null ? [] : [[parameter, '']]))),
    ...NO_HEADER_MEDIA,
  }
}

function headerVariables({ header }: TemplateForm): string[] {
  return header?.kind === 'text' ? header.variables : []
}

/** A list as the file that the service reads; null if there is none. */
export function fileOf({ audience, list }: Draft): Blob | null {
  if (audience !== 'list') return null
  if (typeof list !== 'string') return list
  return list.trim() === '' ? null : new Blob([list])
}

/** The audience for POST /audience, unless it is a list. Null until one is chosen. */
export function audienceOf({ audience, tags, contacts }: Draft): object | null {
  switch (audience) {
    case null:
    case 'list':
      return null
    case 'all':
      return { all: true }
    case 'tags':
      return tags.length === 0 ? null : { tags }
    case 'contacts':
      return contacts.length === 0 ? null : { contactIds: contacts.map(({ id }) => id) }
  }
}

/** Whether the list has a column for a variable. */
export function hasColumn({ audience }: Draft, { columns }: ReadList, part: string, name: string): boolean {
  return audience === 'list' && columns.includes(`${part === 'buttons' ? 'button' : part}Parameters.${name}`)
}

/** The body for POST /broadcasts; `audienceId`: of a list that is uploaded. */
export function toBody(draft: Draft, template: ShownTemplate, audienceId: string | null, timezone: string): object {
  const { name, body, header, buttons, isLater, at } = draft
  return {
    name: name.trim(),
    templateName: template.name,
    language: template.language,
    bodyParameters: filled(body),
    headerParameters: filled(header),
    buttonParameters: filled(buttons),
    ...toHeaderMediaFields(draft),
    audience: audienceId === null ? audienceOf(draft) : { audienceId },
    ...(isLater && at !== null && { scheduled_at: toInstant(at, timezone).toISOString() }),
  }
}

function filled(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''))
}

/** What is missing or wrong, by the path of the field. */
export type Complaint = 'required' | 'address' | 'past' | 'audience'

/** Validates a draft before it is sent. The service validates it again. */
export function complaintsAbout(
  draft: Draft,
  form: TemplateForm | null,
  list: ReadList,
  timezone: string,
): Record<string, Complaint> {
  const complaints: Record<string, Complaint> = {}
  if (draft.name.trim() === '') complaints.name = 'required'
  if (form === null) complaints.template = 'required'
  for (const part of ['body', 'header', 'buttons'] as const) {
    for (const [name, value] of Object.entries(draft[part])) {
      if (value.trim() === '' && !hasColumn(draft, list, part, name)) complaints[`${part}.${name}`] = 'required'
    }
  }
  if (form && fileKindOf(form) !== null && draft.headerMediaId === null) {
    if (draft.headerMedia.trim() === '') complaints.headerMedia = 'required'
    else if (!URL.canParse(draft.headerMedia.trim())) complaints.headerMedia = 'address'
  }
  const isChosen = draft.audience === 'list' ? list.recipients > 0 : audienceOf(draft) !== null
  if (!isChosen) complaints[draft.audience ?? 'audience'] = 'audience'
  if (draft.isLater) {
    if (draft.at === null) complaints.at = 'required'
    else if (toInstant(draft.at, timezone).getTime() < Date.now()) complaints.at = 'past'
  }
  return complaints
}
