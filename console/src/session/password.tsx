import { Alert, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../api/client.js'
import { messageOf, notifyDone } from '../shared/problem.js'
import { SESSION, useSession } from './session.js'

const MIN_LENGTH = 8

/** Sets or changes the member's password. */
export default function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('session')
  const { member } = useSession()
  return (
    <Modal opened onClose={onClose} title={t(member.has_password ? 'change.title' : 'change.choose')}>
      <PasswordForm onClose={onClose} />
    </Modal>
  )
}

function PasswordForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('session')
  const { member, by_link } = useSession()
  const queries = useQueryClient()
  const needsCurrent = member.has_password && !by_link
  const form = useForm({
    initialValues: { current: '', password: '', repeated: '' },
    validate: {
      password: (password) => (password.length < MIN_LENGTH ? t('change.tooShort') : null),
      repeated: (repeated, { password }) => (repeated === password ? null : t('change.differs')),
    },
  })
  const change = useMutation({
    mutationFn: ({ current, password }: typeof form.values) =>
      api.put('/session/password', { new_password: password, ...(needsCurrent && { current_password: current }) }),
    onSuccess: () => {
      notifyDone(t('change.done'))
      onClose()
      return queries.invalidateQueries({ queryKey: SESSION })
    },
  })
  return (
    <form onSubmit={form.onSubmit((given) => change.mutate(given))}>
      <Stack>
        {!member.has_password && <Text c="dimmed">{t('change.chooseHint')}</Text>}
        <input hidden readOnly name="username" autoComplete="username" value={member.email} />
        {needsCurrent && (
          <PasswordInput
            {...form.getInputProps('current')}
            label={t('change.current')}
            autoComplete="current-password"
            required
          />
        )}
        <PasswordInput
          {...form.getInputProps('password')}
          label={t('change.new')}
          description={t('change.newHint')}
          autoComplete="new-password"
          required
          data-autofocus
        />
        <PasswordInput
          {...form.getInputProps('repeated')}
          label={t('change.repeat')}
          autoComplete="new-password"
          required
        />
        {change.isError && (
          <Alert color="red" role="alert">
            {messageOf(change.error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('change.later')}
          </Button>
          <Button type="submit" loading={change.isPending}>
            {t('save', { ns: 'common' })}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
