import { Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { CopyField } from '../forms/copy-field.js'
import { Loaded } from '../frame/loaded.js'
import { instancePath } from './path.js'

/** Shows the token of an instance. */
export function TokenDialog({ name, opened, onClose }: { name: string; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={onClose} title={t('instances.tokenTitle', { name })}>
      <Token name={name} />
    </Modal>
  )
}

function Token({ name }: { name: string }) {
  const { t } = useTranslation('settings')
  const token = useQuery({
    queryKey: ['instance-token', name],
    queryFn: async ({ signal }) => (await api.get<{ token: string }>(instancePath(name, '/token'), {}, signal)).token,
    // The token is not cached after the dialog closes.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Stack>
      <Text size="sm">{t('instances.tokenHint')}</Text>
      <Loaded query={token}>{(value) => <CopyField label={t('instances.token')} value={value} isLong />}</Loaded>
    </Stack>
  )
}
