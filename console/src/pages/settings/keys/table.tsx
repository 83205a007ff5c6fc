import { ActionIcon, Badge, Code, Group, Menu, Text } from '@mantine/core'
import { IconBan, IconDots, IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useFormat } from '../../../shared/format.js'
import { ConfirmDialog } from '../dialogs/confirm-dialog.js'
import { useSubject } from '../dialogs/use-subject.js'
import { type Column, Listing } from '../frame/listing.js'
import { KEYS } from '../queries.js'
import type { ApiKey } from '../types.js'
import { RotateKeyDialog } from './rotate-dialog.js'
import { SCOPES } from './scopes.js'
import { KeyBadge, stateOf } from './state.js'

/** Keys with their actions. */
export function KeyTable({ keys, onIssued }: { keys: ApiKey[]; onIssued: (key: string) => void }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const queries = useQueryClient()
  const rotating = useSubject<ApiKey>()
  const revoking = useSubject<ApiKey>()
  const revoke = async ({ id }: ApiKey) => {
    await api.delete(`/keys/${id}`)
    await queries.invalidateQueries({ queryKey: KEYS })
  }
  const columns: Column<ApiKey>[] = [
    { label: t('keys.name'), place: 'title', cell: (key) => <KeyName apiKey={key} /> },
    { label: t('keys.state'), cell: (key) => <KeyBadge apiKey={key} /> },
    { label: t('keys.scopes'), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    {
      label: t('keys.expires'),
      cell: ({ expires_at }) => <Text size="sm">{expires_at ? format.date(expires_at) : t('keys.never')}</Text>,
    },
    {
      label: t('keys.lastUsed'),
      cell: ({ last_used_at }) => (
        <Text size="sm">{last_used_at ? format.dateTime(last_used_at) : t('keys.notUsed')}</Text>
      ),
    },
    {
      label: t('actions'),
      place: 'actions',
      cell: (key) => <KeyMenu apiKey={key} onRotate={() => rotating.open(key)} onRevoke={() => revoking.open(key)} />,
    },
  ]
  return (
    <>
      <Listing label={t('keys.title')} columns={columns} rows={keys} />
      <RotateKeyDialog
        opened={rotating.isOpen}
        apiKey={rotating.subject}
        onClose={rotating.close}
        onIssued={onIssued}
      />
      <ConfirmDialog
        opened={revoking.isOpen}
        title={t('keys.revokeTitle', { name: revoking.subject?.name })}
        action={t('keys.revoke')}
        onConfirm={async () => revoking.subject && revoke(revoking.subject)}
        onClose={revoking.close}
      >
        {t('keys.revokeHint')}
      </ConfirmDialog>
    </>
  )
}

function KeyName({ apiKey }: { apiKey: ApiKey }) {
  return (
    <>
      <Text size="sm" fw={600}>
        {apiKey.name}
      </Text>
      <Code>{apiKey.prefix}…</Code>
    </>
  )
}

function Scopes({ scopes }: { scopes: ApiKey['scopes'] }) {
  const { t } = useTranslation('settings')
  if (scopes.length === SCOPES.length) return <Text size="sm">{t('keys.allScopes')}</Text>
  return (
    <Group gap={4} maw={260}>
      {scopes.map((scope) => (
        <Badge key={scope} variant="default" size="sm" tt="none" fw={500}>
          {scope}
        </Badge>
      ))}
    </Group>
  )
}

function KeyMenu({ apiKey, onRotate, onRevoke }: { apiKey: ApiKey; onRotate: () => void; onRevoke: () => void }) {
  const { t } = useTranslation('settings')
  const state = stateOf(apiKey, new Date())
  if (state === 'revoked' || state === 'expired') return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('actionsFor', { name: apiKey.name })}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {state === 'active' && (
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={onRotate}>
            {t('keys.rotate')}
          </Menu.Item>
        )}
        <Menu.Item color="red" leftSection={<IconBan size={16} aria-hidden />} onClick={onRevoke}>
          {t('keys.revoke')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
