import { Button, Group, Modal, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** Frame of a dialog that composes a message: fields and send button. */
export function MessageDialog({
  title,
  children,
  onSubmit,
  onClose,
}: {
  title: string
  children: ReactNode
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void
  onClose: () => void
}) {
  const { t } = useTranslation('thread')
  return (
    <Modal opened onClose={onClose} title={title} centered>
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="sm">
          {children}
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              {t('cancel', { ns: 'common' })}
            </Button>
            <Button type="submit">{t('send')}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
