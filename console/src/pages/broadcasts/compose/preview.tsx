import { Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import type { ShownTemplate } from '../../../shared/templates/template-form.js'
import {
  type PreviewedRecipient,
  TemplatePreview,
  usePlaceholders,
} from '../../../shared/templates/template-preview.js'
import type { Draft } from './draft.js'
import { Section } from './section.js'

const SAMPLE = {
  first_name: 'Ana',
  full_name: 'Ana Souza',
  email: 'ana@example.com',
  phone_number: '+5511900001234',
  chat_id: '5511900001234',
}

interface PreviewProps {
  draft: Draft
  template: ShownTemplate | null
  list: ReadList
}

/** The message for the first listed recipient, else for a sample contact. */
export function Preview(props: PreviewProps) {
  const { t } = useTranslation('broadcasts')
  return (
    <Section title={t('preview.title')}>
      <PreviewedMessage {...props} />
    </Section>
  )
}

/** The same without a frame. */
export function PreviewedMessage({ draft, template, list }: PreviewProps) {
  const { t } = useTranslation('broadcasts')
  const row = draft.audience === 'list' ? list.first : null
  const recipient = recipientOf(draft, row)
  const found = usePlaceholders(recipient)
  const placeholders = recipient ? found : SAMPLE
  const { body, header, buttons, headerMedia } = draft
  const values = {
    body: { ...body, ...row?.bodyParameters },
    header,
    buttons: { ...buttons, ...row?.buttonParameters },
    headerMedia,
  }
  if (!template) {
    return (
      <Text size="sm" c="dimmed">
        {t('preview.none')}
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      <TemplatePreview template={template} values={values} placeholders={placeholders} />
      {placeholders && (
        <Text size="xs" c="dimmed">
          {t(recipient ? 'preview.person' : 'preview.sample', {
            name: placeholders.full_name ?? placeholders.phone_number ?? placeholders.chat_id,
          })}
        </Text>
      )}
    </Stack>
  )
}

/** The first recipient of a list or of selected contacts. */
function recipientOf({ audience, contacts }: Draft, row: ReadList['first']): PreviewedRecipient | null {
  const [contact] = audience === 'contacts' ? contacts : []
  if (contact) return { contactId: contact.id }
  return row ? { chatNumber: row.chatNumber, ...(row.name && { name: row.name }) } : null
}
