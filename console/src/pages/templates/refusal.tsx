import { Alert, Text } from '@mantine/core'
import { ApiError } from '../../api/client.js'
import { messageOf } from '../../shared/problem.js'

/** What the service or WhatsApp says of a refusal. */
export function Refusal({ error }: { error: unknown }) {
  const details = error instanceof ApiError && typeof error.body.details === 'string' ? error.body.details : null
  return (
    <Alert color="red" role="alert">
      <Text size="sm">{messageOf(error)}</Text>
      {details !== null && <Text size="sm">{details}</Text>}
    </Alert>
  )
}
