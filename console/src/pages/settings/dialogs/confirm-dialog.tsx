import { Alert, Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { messageOf } from '../../../shared/problem.js'

interface ConfirmProps {
  title: string
  /** The consequences. */
  children: ReactNode
  /** Label of the button. */
  action: string
  /** Text to type first, for actions that lose data. */
  typed?: string
  isDanger?: boolean
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Asks before an action that cannot be undone. Stays open with the reason if the action fails. */
export function ConfirmDialog({ opened, ...props }: ConfirmProps & { opened: boolean }) {
  return (
    <Modal opened={opened} onClose={props.onClose} title={props.title}>
      <Confirmation {...props} />
    </Modal>
  )
}

function Confirmation({ children, action, typed, isDanger = true, onConfirm, onClose }: ConfirmProps) {
  const { t } = useTranslation('settings')
  const [given, setGiven] = useState('')
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const isTyped = typed === undefined || given.trim() === typed
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isTyped) confirm.mutate()
      }}
    >
      <Stack>
        <Text size="sm">{children}</Text>
        {typed !== undefined && (
          <TextInput
            label={<Trans t={t} i18nKey="confirm.type" values={{ text: typed }} components={{ code: <Code /> }} />}
            value={given}
            onChange={(event) => setGiven(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {confirm.isError && (
          <Alert color="red" role="alert">
            {messageOf(confirm.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel', { ns: 'common' })}
          </Button>
          <Button type="submit" loading={confirm.isPending} disabled={!isTyped} {...(isDanger && { color: 'red' })}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
