import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { messageOf, notifyDone } from '../../../shared/problem.js'
import { useLiveUpdates } from '../list/live-updates-provider.js'
import { nameOf } from './contact-name.js'

interface EraseProps {
  contact: InboxContact
  opened: boolean
  onClose: () => void
  onErased: () => void
}

/** Erases a contact with all messages, after its name has been typed. */
export function Erase({ contact, opened, onClose, onErased }: EraseProps) {
  const { t } = useTranslation('inbox')
  const name = nameOf(contact)
  return (
    <Modal opened={opened} onClose={onClose} title={t('erase.title', { name })}>
      <EraseForm contact={contact} name={name} onClose={onClose} onErased={onErased} />
    </Modal>
  )
}

function EraseForm({ contact, name, onClose, onErased }: Omit<EraseProps, 'opened'> & { name: string }) {
  const { t } = useTranslation('inbox')
  const { forget } = useLiveUpdates()
  const [typed, setTyped] = useState('')
  const erase = useMutation({
    mutationFn: () => api.delete('/contact', { chat_id: contact.chat_id }),
    onSuccess: () => {
      onClose()
      onErased()
      forget(contact.id)
      notifyDone(t('erase.done', { name }))
    },
  })
  const isSure = typed.trim() === name.trim()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isSure) erase.mutate()
      }}
    >
      <Stack>
        <Alert color="red">{t('erase.warning')}</Alert>
        <TextInput
          label={t('erase.confirm', { name })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {erase.isError && (
          <Alert color="red" role="alert">
            {messageOf(erase.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel', { ns: 'common' })}
          </Button>
          <Button type="submit" color="red" disabled={!isSure} loading={erase.isPending}>
            {t('erase.go')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
