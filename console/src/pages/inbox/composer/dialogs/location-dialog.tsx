import { Group, NumberInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { chatRequest } from '../requests.js'
import { MessageDialog } from './message-dialog.js'
import type { MessageDialogProps } from './message-dialog-props.js'

/** Composes a location. */
export default function LocationDialog({ route, onSend, onClose }: MessageDialogProps) {
  const { t } = useTranslation('thread')
  const within = (limit: number) => (value: string | number) =>
    typeof value === 'number' && Math.abs(value) <= limit ? null : t('coordinate', { limit })
  const form = useForm<{ latitude: string | number; longitude: string | number; name: string; address: string }>({
    initialValues: { latitude: '', longitude: '', name: '', address: '' },
    validate: { latitude: within(90), longitude: within(180) },
  })
  const submit = form.onSubmit(({ latitude, longitude, name, address }) => {
    const location = {
      latitude: Number(latitude),
      longitude: Number(longitude),
      name: name || null,
      address: address || null,
    }
    const place = [name, address].filter(Boolean).join(', ')
    const coordinates = `${location.latitude}, ${location.longitude}`
    const message = place === '' ? coordinates : `${place} (${coordinates})`
    const content = { type: 'location' as const, ...location, url: null }
    onSend(chatRequest(route, { location }, { message_type: 'location', message, content }))
    onClose()
  })
  return (
    <MessageDialog title={t('kinds.location')} onSubmit={submit} onClose={onClose}>
      <Group grow align="flex-start">
        <NumberInput
          data-autofocus
          label={t('latitude')}
          placeholder="-23.5614"
          hideControls
          decimalScale={7}
          {...form.getInputProps('latitude')}
        />
        <NumberInput
          label={t('longitude')}
          placeholder="-46.6559"
          hideControls
          decimalScale={7}
          {...form.getInputProps('longitude')}
        />
      </Group>
      <TextInput label={t('placeName')} maxLength={1_000} {...form.getInputProps('name')} />
      <TextInput label={t('placeAddress')} maxLength={1_000} {...form.getInputProps('address')} />
    </MessageDialog>
  )
}
