import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { filledValues } from '../../forms/filled-values.js'
import { useSubmit } from '../../forms/use-submit.js'
import { Panel } from '../../frame/panel.js'
import { NUMBER_HEALTH, SETTINGS } from '../../queries.js'
import type { Connection, Upstream } from '../../types.js'
import { NO_VALUES } from './choices.js'
import { ConnectForm } from './connect-form.js'
import { ConnectionResult } from './connection-result.js'

/** Connects the number with an access token, and asks for what cannot be found. */
export function ConnectPanel({ upstream }: { upstream: Upstream | null }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const form = useForm({ initialValues: NO_VALUES })
  const [connection, setConnection] = useState<Connection | null>(null)
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ further, ...values }) =>
      api.post<Connection>('/settings/upstream/connect', { ...filledValues(values), ...(further && { further }) }),
    (answer) => {
      setConnection(answer)
      // What is stored need not stay in the page; a PIN is tried once.
      if (answer.connected) form.setValues(NO_VALUES)
      else form.setFieldValue('pin', '')
      if (answer.upstream === null) return
      void queries.invalidateQueries({ queryKey: SETTINGS })
      void queries.invalidateQueries({ queryKey: NUMBER_HEALTH })
    },
  )
  return (
    <Panel title={t('number.connect.title')} hint={t('number.connect.hint')}>
      <ConnectForm form={form} isStored={upstream !== null} isPending={isPending} problem={problem} onSubmit={submit} />
      <ConnectionResult
        connection={connection}
        isPending={isPending}
        onChosen={(field, value) => {
          form.setFieldValue(field, value)
          submit()
        }}
      />
    </Panel>
  )
}
