import { Button, Group, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFlask } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { notifyError } from '../../../shared/problem.js'
import { nameOf } from '../contact/contact-name.js'
import classes from './composer.module.css'

const MAX_TEXT = 4_096

/** In the sandbox: sends a message as the customer, to try a conversation from both sides. */
export default function PlayCustomer({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('thread')
  const [isOpen, form] = useDisclosure(false)
  const [text, setText] = useState('')
  const sending = useMutation({
    mutationFn: () => api.post(`/contacts/${contact.id}/play`, { text }),
    onSuccess: () => setText(''),
    onError: (error) => notifyError(error),
  })
  const name = nameOf(contact)
  if (!isOpen) {
    return (
      <Group px="xs" pt={4}>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<IconFlask size={14} aria-hidden />}
          onClick={form.open}
        >
          {t('asCustomer.open')}
        </Button>
      </Group>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') sending.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs" wrap="nowrap" className={classes.notice}>
        <TextInput
          flex={1}
          size="sm"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          aria-label={t('asCustomer.field', { name })}
          placeholder={t('asCustomer.field', { name })}
          maxLength={MAX_TEXT}
          autoFocus
        />
        <Button type="submit" size="sm" variant="light" loading={sending.isPending}>
          {t('asCustomer.send')}
        </Button>
        <Button size="sm" variant="subtle" color="gray" onClick={form.close}>
          {t('close', { ns: 'common' })}
        </Button>
      </Group>
    </form>
  )
}
