import { Alert, Button, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'react-router'
import { api } from '../api/client.js'
import type { Session } from '../api/types.js'
import { messageOf } from '../shared/problem.js'
import { Card } from './card.js'
import { LinkSignIn } from './link-sign-in.js'
import { beginSession } from './session.js'

const ORGANIZATION = 'parley.organization'

/** Signs a member in, by the one-time link of the URL or by password. */
export default function SignIn() {
  const { pathname, hash } = useLocation()
  const { t } = useTranslation('session')
  useEffect(() => {
    document.title = `${t('title')} · Parley`
  }, [t])
  const token = hash.slice(1)
  return pathname === '/sign-in' && token !== '' ? <LinkSignIn token={token} /> : <PasswordSignIn />
}

function PasswordSignIn() {
  const { t } = useTranslation('session')
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { organization: localStorage.getItem(ORGANIZATION) ?? '', email: '', password: '' },
  })
  const signIn = useMutation({
    mutationFn: (given: typeof form.values) => api.post<{ session: Session }>('/session', given),
    onSuccess: ({ session }) => {
      localStorage.setItem(ORGANIZATION, session.organization.slug)
      beginSession(queries, session)
    },
  })
  return (
    <Card title="Parley">
      <Text c="dimmed">{t('welcome')}</Text>
      <form onSubmit={form.onSubmit((given) => signIn.mutate(given))} style={{ display: 'contents' }}>
        <TextInput
          {...form.getInputProps('organization')}
          label={t('organization')}
          description={t('organizationHint')}
          autoComplete="organization"
          autoCapitalize="none"
          required
        />
        <TextInput {...form.getInputProps('email')} label={t('email')} type="email" autoComplete="username" required />
        <PasswordInput
          {...form.getInputProps('password')}
          label={t('password')}
          autoComplete="current-password"
          required
        />
        {signIn.isError && (
          <Alert color="red" role="alert">
            {messageOf(signIn.error)}
          </Alert>
        )}
        <Button type="submit" loading={signIn.isPending} fullWidth>
          {t('signIn')}
        </Button>
      </form>
      <Text size="sm" c="dimmed">
        {t('forgot')}
      </Text>
    </Card>
  )
}
