import { TextInput } from '@mantine/core'
import { isNotEmpty, useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../src/model/messages/shown/schemas.js'
import { chatRequest } from '../requests.js'
import { MessageDialog } from './message-dialog.js'
import type { MessageDialogProps } from './message-dialog-props.js'

/** Composes a contact card. */
export default function CardDialog({ route, onSend, onClose }: MessageDialogProps) {
  const { t } = useTranslation('thread')
  const form = useForm({
    initialValues: { name: '', phone: '' },
    validate: {
      name: isNotEmpty(t('needed')),
      phone: (phone) => (/\d{5}/.test(phone.replace(/\D/g, '')) ? null : t('needsPhone')),
    },
  })
  const submit = form.onSubmit(({ name, phone }) => {
    const [shownName, number] = [name.trim(), phone.trim()]
    const contacts = [{ name: { formatted_name: shownName }, phones: [{ phone: number }] }]
    const content = contentOfCard(shownName, number)
    onSend(chatRequest(route, { contacts }, { message_type: 'contacts', message: shownName, content }))
    onClose()
  })
  return (
    <MessageDialog title={t('kinds.contacts')} onSubmit={submit} onClose={onClose}>
      <TextInput data-autofocus label={t('cardName')} maxLength={256} withAsterisk {...form.getInputProps('name')} />
      <TextInput
        label={t('cardPhone')}
        type="tel"
        placeholder="+55 11 99999-0000"
        maxLength={256}
        withAsterisk
        {...form.getInputProps('phone')}
      />
    </MessageDialog>
  )
}

/** A card with nothing but a name and a number, as it will be shown. */
function contentOfCard(name: string, phone: string): ContentOf<'contacts'> {
  const card = {
    name,
    first_name: null,
    last_name: null,
    phones: [{ phone, type: null, wa_id: null }],
    emails: [],
    urls: [],
    addresses: [],
    organization: { company: null, department: null, title: null },
    birthday: null,
    vcard: null,
  }
  return { type: 'contacts', origin: null, contacts: [card] }
}
