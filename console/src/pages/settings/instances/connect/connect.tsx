import { Alert, Button, Group, Stack, Tabs, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Loading } from '../../../../layout/loading.js'
import { messageOf } from '../../../../shared/problem.js'
import type { Instance } from '../../types.js'
import { closeReason } from '../state-code.js'
import { PairingCode } from './pairing-code.js'
import { QrCode } from './qr-code.js'
import { ScanButton } from './scan-button.js'
import { useConnecting } from './use-connecting.js'

/** Shows the codes of an instance until it is connected. */
export function Connect({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const { t } = useTranslation('settings')
  const { connect, isConnecting, error, newest } = useConnecting(instance.name)
  const again = (
    <Button variant="default" onClick={() => connect('')} loading={isConnecting}>
      {t('instances.anotherCode')}
    </Button>
  )
  if (newest?.instance.state === 'open') return <Linked instance={newest.instance} onClose={onClose} />
  if (error && !isConnecting) {
    return (
      <Stack align="flex-start">
        <Alert color="red" role="alert" w="100%">
          {messageOf(error)}
        </Alert>
        {again}
      </Stack>
    )
  }
  if (!newest) return <Loading />
  if (newest.instance.state === 'close' && !isConnecting) {
    const reason = closeReason(newest.instance) ?? 'notScanned'
    return (
      <Stack align="flex-start">
        <Alert color="yellow" role="alert" w="100%">
          {t(`instances.reasons.${reason}`)}
        </Alert>
        {again}
      </Stack>
    )
  }
  const { code } = newest
  if (instance.kind === 'sandbox') {
    return (
      <Stack align="center">
        <QrCode code={code} />
        <ScanButton name={instance.name} />
      </Stack>
    )
  }
  return (
    <Tabs defaultValue="scan" keepMounted={false}>
      <Tabs.List grow mb="md">
        <Tabs.Tab value="scan">{t('instances.byScanning')}</Tabs.Tab>
        <Tabs.Tab value="type">{t('instances.byTyping')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="scan">
        <QrCode code={code} />
      </Tabs.Panel>
      <Tabs.Panel value="type">
        <PairingCode code={code} number={instance.number} isPending={isConnecting} onAsk={connect} />
      </Tabs.Panel>
    </Tabs>
  )
}

function Linked({ instance: { name, owner, profile_name }, onClose }: { instance: Instance; onClose: () => void }) {
  const { t } = useTranslation('settings')
  return (
    <Stack align="center" py="md" role="status">
      <ThemeIcon size={64} radius="xl" color="teal.8">
        <IconCheck size={36} aria-hidden />
      </ThemeIcon>
      <Title order={3} ta="center">
        {t('instances.linked', { name })}
      </Title>
      {owner && (
        <Text>
          +{owner}
          {profile_name && ` · ${profile_name}`}
        </Text>
      )}
      <Group>
        <Button onClick={onClose} data-autofocus>
          {t('instances.done')}
        </Button>
      </Group>
    </Stack>
  )
}
