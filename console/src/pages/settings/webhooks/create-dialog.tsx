import { Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useSubmit } from '../forms/use-submit.js'
import { WEBHOOKS } from '../queries.js'
import { EventsInput } from './events-input.js'
import { EVERY_KIND } from './kinds.js'

interface CreateWebhookProps {
  onClose: () => void
  /** Called with the secret. */
  onIssued: (secret: string) => void
}

/** Adds a webhook. */
export function CreateWebhookDialog({ opened, ...rest }: CreateWebhookProps & { opened: boolean }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={rest.onClose} title={t('webhooks.create')} size="lg">
      <CreateWebhookForm {...rest} />
    </Modal>
  )
}

function CreateWebhookForm({ onClose, onIssued }: CreateWebhookProps) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { url: '', description: '', events: [EVERY_KIND] },
    validate: { events: (events) => (events.length === 0 ? t('webhooks.noEvent') : null) },
  })
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ url, description, events }) =>
      api.post<{ webhook: { secret: string } }>('/set-webhooks', {
        url: url.trim(),
        description: description.trim() || null,
        events,
      }),
    ({ webhook }) => {
      void queries.invalidateQueries({ queryKey: WEBHOOKS })
      onClose()
      onIssued(webhook.secret)
    },
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('url')}
          label={t('webhooks.url')}
          description={t('webhooks.urlHint')}
          type="url"
          placeholder="https://shop.example/hooks/parley"
          maxLength={2048}
          required
          data-autofocus
        />
        <TextInput
          {...form.getInputProps('description')}
          label={t('webhooks.description')}
          description={t('webhooks.descriptionHint')}
          maxLength={500}
        />
        <EventsInput
          value={form.values.events}
          onChange={(events) => form.setFieldValue('events', events)}
          error={form.errors.events}
        />
        <DialogButtons action={t('webhooks.create')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}
