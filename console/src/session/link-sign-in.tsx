import { Alert, Anchor, Button, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import { ApiError, api } from '../api/client.js'
import type { Session } from '../api/types.js'
import { messageOf } from '../shared/problem.js'
import { Card } from './card.js'
import { beginSession } from './session.js'

/** Asks before it uses the link, since mail and chat programs open links for previews. */
export function LinkSignIn({ token }: { token: string }) {
  const { t } = useTranslation('session')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const signIn = useMutation({
    mutationFn: () => api.post<{ session: Session }>('/session/link', { token }),
    onSuccess: ({ session }) => {
      beginSession(queries, session)
      navigate('/', { replace: true })
    },
  })
  return (
    <Card title={t('link.title')}>
      <Text c="dimmed">{t('link.hint')}</Text>
      {signIn.isError && (
        <Alert color="red" role="alert" title={t('link.failed')}>
          {isRefused(signIn.error) ? t('link.refused') : messageOf(signIn.error)}
        </Alert>
      )}
      <Button onClick={() => signIn.mutate()} loading={signIn.isPending} disabled={signIn.isError} fullWidth autoFocus>
        {t('link.go')}
      </Button>
      <Anchor component={Link} to="/" size="sm">
        {t('link.other')}
      </Anchor>
    </Card>
  )
}

/** The service has one error for links and passwords. */
function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.error === 'Sign-in failed'
}
