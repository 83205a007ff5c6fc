import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import {
  fileKindOf,
  LOCATION_VARIABLES,
  type ShownTemplate,
  type TemplateForm,
} from '../../../shared/templates/template-form.js'
import type { ParsedList } from './audience/parse-list.js'
import { toInstant } from './schedule/zoned.js'

export const AUDIENCES = ['all', 'tags', 'contacts', 'list'] as const
export type AudienceKind = (typeof AUDIENCES)[number]

/** A broadcast that is being composed. */
export interface Draft {
  name: string
  /** The key of the template (keyOf), or ''. */
  template: string
  body: Record<string, string>
  header: Record<string, string>
  buttons: Record<string, string>
  headerMedia: string
  /** Null until one is chosen: a broadcast to everybody must not be sent by mistake. */
  audience: AudienceKind | null
  tags: string[]
  contacts: InboxContact[]
  /** Numbers as they were pasted, one a line, or a CSV file. */
  list: string
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
  headerMedia: '',
  audience: null,
  tags: [],
  contacts: [],
  list: '',
  isLater: false,
  at: null,
}

/** One name may have several languages. */
export function keyOf({ name, language }: ShownTemplate): string {
  return `${name} ${language}`
}

/** What the texts of variables are called that ask for the person's name. */
const FIRST_NAMES = /^(first_?name|name|nome|primeiro_?nome)$/i

/** Fields for all variables of a template; what asks for a name begins with the person's. */
export function fieldsOf(form: TemplateForm): Pick<Draft, 'body' | 'header' | 'buttons' | 'headerMedia'> {
  const initial = (name: string) => [name, FIRST_NAMES.test(name) ? '{{first_name}}' : '']
  return {
    body: Object.fromEntries(form.body.variables.map(initial)),
    header: Object.fromEntries(
      form.header?.kind === 'location'
        ? LOCATION_VARIABLES.map((name) => [name, ''])
        : headerVariables(form).map(initial),
    ),
    buttons: Object.fromEntries(form.buttons.flatMap(({ parameter }) => (parameter === null ? [] : [[parameter, '']]))),
    headerMedia: '',
  }
}

function headerVariables({ header }: TemplateForm): string[] {
  return header?.kind === 'text' ? header.variables : []
}

/** Who is chosen, as POST /audience takes it; null where no one is yet. */
export function audienceOf({ audience, tags, contacts }: Draft, { recipients }: ParsedList): object | null {
  switch (audience) {
    case null:
      return null
    case 'all':
      return { all: true }
    case 'tags':
      return tags.length === 0 ? null : { tags }
    case 'contacts':
      return contacts.length === 0 ? null : { contactIds: contacts.map(({ id }) => id) }
    case 'list':
      return recipients.length === 0 ? null : { recipients }
  }
}

/** What POST /broadcasts takes. */
export function toBody(draft: Draft, template: ShownTemplate, list: ParsedList, timezone: string): object {
  const { name, body, header, buttons, headerMedia, isLater, at } = draft
  return {
    name: name.trim(),
    templateName: template.name,
    language: template.language,
    bodyParameters: filled(body),
    headerParameters: filled(header),
    buttonParameters: filled(buttons),
    ...(headerMedia.trim() !== '' && { headerMedia: headerMedia.trim() }),
    audience: audienceOf(draft, list),
    ...(isLater && at !== null && { scheduled_at: toInstant(at, timezone).toISOString() }),
  }
}

function filled(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''))
}

/** What is still missing or wrong, by the path of its field. */
export type Complaint = 'required' | 'address' | 'past' | 'audience'

/** Looks a draft through before it is sent; the service looks at everything once more. */
export function complaintsAbout(
  draft: Draft,
  form: TemplateForm | null,
  list: ParsedList,
  timezone: string,
): Record<string, Complaint> {
  const complaints: Record<string, Complaint> = {}
  if (draft.name.trim() === '') complaints.name = 'required'
  if (form === null) complaints.template = 'required'
  for (const part of ['body', 'header', 'buttons'] as const) {
    for (const [name, value] of Object.entries(draft[part])) {
      const isOwn = draft.audience === 'list' && list.columns.includes(`${part}.${name}`)
      if (value.trim() === '' && !isOwn) complaints[`${part}.${name}`] = 'required'
    }
  }
  if (form && fileKindOf(form) !== null) {
    if (draft.headerMedia.trim() === '') complaints.headerMedia = 'required'
    else if (!URL.canParse(draft.headerMedia.trim())) complaints.headerMedia = 'address'
  }
  if (audienceOf(draft, list) === null) complaints[draft.audience ?? 'audience'] = 'audience'
  if (draft.isLater) {
    if (draft.at === null) complaints.at = 'required'
    else if (toInstant(draft.at, timezone).getTime() < Date.now()) complaints.at = 'past'
  }
  return complaints
}
