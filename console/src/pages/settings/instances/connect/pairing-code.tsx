import { Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Code } from '../../types.js'
import classes from './pairing-code.module.css'

interface PairingCodeProps {
  code: Code | null
  /** The number that was given when the instance was created. */
  number: string | null
  isPending: boolean
  onAsk: (number: string) => void
}

/** A code to enter on the phone. It is requested for the phone's number. */
export function PairingCode({ code, number, isPending, onAsk }: PairingCodeProps) {
  const { t } = useTranslation('settings')
  const [given, setGiven] = useState(number ?? '')
  return (
    <Stack>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onAsk(given)
        }}
      >
        <Group align="flex-end">
          <TextInput
            flex={1}
            miw={200}
            label={t('instances.phoneNumber')}
            description={t('instances.phoneNumberHint')}
            type="tel"
            inputMode="tel"
            autoComplete="off"
            placeholder="5511987654321"
            value={given}
            onChange={(event) => setGiven(event.currentTarget.value)}
            required
          />
          <Button type="submit" loading={isPending}>
            {t('instances.askCode')}
          </Button>
        </Group>
      </form>
      {code?.pairing_code && (
        <Stack gap="xs" align="center" role="status">
          <Text className={classes.code}>{code.pairing_code.replace(/^(.{4})(.{4})$/, '$1-$2')}</Text>
          <List type="ordered" size="sm" spacing="xs">
            <List.Item>{t('instances.scanStep1')}</List.Item>
            <List.Item>{t('instances.typeStep2')}</List.Item>
            <List.Item>{t('instances.typeStep3')}</List.Item>
          </List>
        </Stack>
      )}
    </Stack>
  )
}
