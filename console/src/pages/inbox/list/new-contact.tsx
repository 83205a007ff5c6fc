import { Alert, Anchor, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { ApiError, api } from '../../../api/client.js'
import type { Contact } from '../../../api/types.js'
import { messageOf } from '../../../shared/problem.js'

interface NewContactProps {
  opened: boolean
  onClose: () => void
  /** Called with the id of the new contact, or of the existing one with this number. */
  onOpen: (contactId: string) => void
}

/** Creates a contact from a name and a number. */
export default function NewContact({ opened, onClose, onOpen }: NewContactProps) {
  const { t } = useTranslation('inbox')
  return (
    <Modal opened={opened} onClose={onClose} title={t('new.title')}>
      <NewContactForm onClose={onClose} onOpen={onOpen} />
    </Modal>
  )
}

function NewContactForm({ onClose, onOpen }: Omit<NewContactProps, 'opened'>) {
  const { t } = useTranslation('inbox')
  const form = useForm({
    initialValues: { name: '', number: '' },
    validate: { number: (number) => (number.trim() === '' ? t('new.numberNeeded') : null) },
  })
  const create = useMutation({
    mutationFn: ({ name, number }: typeof form.values) =>
      api.post<{ contact: Contact }>('/contact', { phone_number: number.trim(), full_name: name.trim() || null }),
    onSuccess: ({ contact }) => open(contact.id),
  })
  const open = (contactId: string) => {
    onClose()
    onOpen(contactId)
  }
  return (
    <form onSubmit={form.onSubmit((given) => create.mutate(given))}>
      <Stack>
        <TextInput {...form.getInputProps('name')} label={t('new.name')} maxLength={255} data-autofocus />
        <TextInput
          {...form.getInputProps('number')}
          label={t('new.number')}
          description={t('new.numberHint')}
          type="tel"
          maxLength={100}
          withAsterisk
        />
        {create.isError && <Refusal error={create.error} onOpen={open} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel', { ns: 'common' })}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t('new.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** If the number is taken, offers to open its contact. */
function Refusal({ error, onOpen }: { error: Error; onOpen: (contactId: string) => void }) {
  const { t } = useTranslation('inbox')
  const id = error instanceof ApiError && error.status === 409 ? error.body.id : undefined
  if (typeof id !== 'string') {
    return (
      <Alert color="red" role="alert">
        {messageOf(error)}
      </Alert>
    )
  }
  return (
    <Alert color="yellow" role="alert">
      <Text size="sm">
        {t('new.exists')}{' '}
        <Anchor component="button" type="button" size="sm" onClick={() => onOpen(id)}>
          {t('new.openExisting')}
        </Anchor>
      </Text>
    </Alert>
  )
}
