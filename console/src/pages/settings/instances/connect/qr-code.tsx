import { Center, Group, Image, List, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Loading } from '../../../../layout/loading.js'
import type { Code } from '../../types.js'
import classes from './qr-code.module.css'

/** A QR code, with the steps to scan it. */
export function QrCode({ code }: { code: Code | null }) {
  const { t } = useTranslation('settings')
  return (
    <Group align="center" justify="center" gap="xl">
      <Center className={classes.frame}>
        {code?.image ? (
          <Image src={code.image} alt={t('instances.qrAlt')} w={264} h={264} fit="contain" />
        ) : (
          <Loading />
        )}
      </Center>
      <Stack flex="1 1 220px" gap="sm">
        <List type="ordered" spacing="xs" size="sm">
          <List.Item>{t('instances.scanStep1')}</List.Item>
          <List.Item>{t('instances.scanStep2')}</List.Item>
          <List.Item>{t('instances.scanStep3')}</List.Item>
        </List>
        <Text size="sm" c="dimmed">
          {t('instances.renews')}
        </Text>
        <Text size="sm" role="status">
          {code && code.count > 0 ? t('instances.codeCount', { count: code.count }) : ''}
        </Text>
      </Stack>
    </Group>
  )
}
