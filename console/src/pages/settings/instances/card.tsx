import { Box, Button, DataList, Group, Paper, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconBuilding, IconDeviceMobile, IconFlask, IconQrcode } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import type { Instance, InstanceKind } from '../types.js'
import classes from './card.module.css'
import { InstanceMenu } from './menu.js'
import { StateBadge } from './state-badge.js'
import { closeReason } from './state-code.js'

const ICONS: Record<InstanceKind, typeof IconFlask> = {
  linked_device: IconDeviceMobile,
  business_api: IconBuilding,
  sandbox: IconFlask,
}

interface InstanceCardProps {
  instance: Instance
  onConnect: () => void
  onChanged: () => void
}

/** An instance with its state and actions. */
export function InstanceCard({ instance, onConnect, onChanged }: InstanceCardProps) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const { name, kind, state, owner, number, profile_name } = instance
  const Icon = ICONS[kind]
  const reason = closeReason(instance)
  const shownNumber = owner ? `+${owner}` : number
  return (
    <Paper component="li" withBorder p="md" className={classes.card}>
      <Stack gap="sm" h="100%">
        <Group wrap="nowrap" align="flex-start" gap="sm">
          <ThemeIcon variant="light" size={40} radius="md">
            <Icon size={22} stroke={1.6} aria-hidden />
          </ThemeIcon>
          <Box flex={1} miw={0}>
            <Title order={2} size="h5" className={classes.name}>
              {name}
            </Title>
            <Text size="sm" c="dimmed">
              {t(`instances.kinds.${kind}`)}
            </Text>
          </Box>
          <InstanceMenu instance={instance} onChanged={onChanged} />
        </Group>
        <DataList gap={6} labelWidth={104}>
          <DataList.Item>
            <DataList.ItemLabel>{t('instances.state')}</DataList.ItemLabel>
            <DataList.ItemValue aria-live="polite">
              <StateBadge state={state} />
            </DataList.ItemValue>
          </DataList.Item>
          <DataList.Item>
            <DataList.ItemLabel>{t('instances.number')}</DataList.ItemLabel>
            <DataList.ItemValue className={classes.name}>
              {shownNumber ?? t(kind === 'business_api' ? 'instances.organizationsNumber' : 'instances.noNumber')}
              {profile_name && ` · ${profile_name}`}
            </DataList.ItemValue>
          </DataList.Item>
          <DataList.Item>
            <DataList.ItemLabel>{t('instances.created')}</DataList.ItemLabel>
            <DataList.ItemValue>{format.date(instance.created_at)}</DataList.ItemValue>
          </DataList.Item>
        </DataList>
        {reason && <Text size="sm">{t(`instances.reasons.${reason}`)}</Text>}
        {state !== 'open' && (
          <Group mt="auto">
            <Button leftSection={<IconQrcode size={18} aria-hidden />} onClick={onConnect}>
              {t('instances.connect')}
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  )
}
