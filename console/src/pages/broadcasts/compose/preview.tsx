import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ShownTemplate } from '../../../shared/template-form.js'
import { type PreviewPerson, TemplatePreview } from '../../../shared/template-preview.js'
import type { Draft } from './draft.js'
import type { ParsedList } from './parse-list.js'
import { Section } from './section.js'

const SAMPLE: PreviewPerson = {
  full_name: 'Ana Souza',
  email: 'ana@example.com',
  phone_number: '+5511900001234',
  chat_id: '5511900001234',
}

interface PreviewProps {
  draft: Draft
  template: ShownTemplate | null
  list: ParsedList
}

/** The message as the first recipient sees it; where nobody is named, as somebody would. */
export function Preview({ draft, template, list }: PreviewProps) {
  const { t } = useTranslation('broadcasts')
  const [row] = draft.audience === 'list' ? list.recipients : []
  const person = personOf(draft, row)
  const { body, header, buttons, headerMedia } = draft
  const values = {
    body: { ...body, ...row?.bodyParameters },
    header,
    buttons: { ...buttons, ...row?.buttonParameters },
    headerMedia,
  }
  return (
    <Section title={t('preview.title')}>
      {template ? (
        <Stack gap="xs">
          <TemplatePreview template={template} values={values} person={person} />
          <Text size="xs" c="dimmed">
            {t(person === SAMPLE ? 'preview.sample' : 'preview.person', {
              name: person.full_name ?? person.phone_number ?? '',
            })}
          </Text>
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {t('preview.none')}
        </Text>
      )}
    </Section>
  )
}

function personOf({ audience, contacts }: Draft, row: ParsedList['recipients'][number] | undefined): PreviewPerson {
  const [contact] = audience === 'contacts' ? contacts : []
  if (contact) return contact
  if (!row) return SAMPLE
  const { name = null, chatNumber } = row
  return { full_name: name, email: null, phone_number: chatNumber, chat_id: chatNumber.replace(/\D/g, '') }
}
