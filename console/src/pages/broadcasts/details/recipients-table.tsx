import { Anchor, Code, Stack, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { useFormat } from '../../../shared/format.js'
import { errorHint } from '../../analytics/error-hint.js'
import classes from '../broadcasts.module.css'
import type { Recipient } from '../data.js'
import { skipReason } from '../skip-reason.js'
import { RecipientBadge } from '../status-badge.js'

/** A page of recipients. On a phone, each is one cell. */
export function RecipientsTable({ recipients }: { recipients: Recipient[] }) {
  const { t } = useTranslation('broadcasts')
  return (
    <Table verticalSpacing="xs">
      <Table.Caption hidden>{t('recipientsTitle')}</Table.Caption>
      <Table.Thead visibleFrom="sm">
        <Table.Tr>
          <Table.Th className={classes.contact}>{t('columns.contact')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('columns.reason')}</Table.Th>
          <Table.Th visibleFrom="md">{t('columns.at')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {recipients.map((recipient, n) => (
          // A number may be listed twice (once as a duplicate), and the order never changes.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Table.Tr key={n}>
            <Table.Td className={classes.cell}>
              <Person recipient={recipient} />
              <Stack hiddenFrom="sm" gap={6} mt={6} align="flex-start">
                <RecipientBadge status={recipient.status} />
                <Reason recipient={recipient} />
              </Stack>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <RecipientBadge status={recipient.status} />
            </Table.Td>
            <Table.Td visibleFrom="sm" className={classes.cell}>
              <Reason recipient={recipient} />
            </Table.Td>
            <Table.Td visibleFrom="md" className={classes.at}>
              <At recipient={recipient} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Person({ recipient: { contactId, contactName, chatNumber } }: { recipient: Recipient }) {
  const { t } = useTranslation('broadcasts')
  const name = contactName ?? chatNumber ?? t('erased')
  return (
    <Stack gap={0}>
      {contactId === null ? (
        <Text size="sm">{name}</Text>
      ) : (
        <Anchor component={Link} to={`/inbox/${contactId}`} size="sm">
          {name}
        </Anchor>
      )}
      {contactName !== null && (
        <Text size="xs" c="dimmed">
          {chatNumber}
        </Text>
      )}
    </Stack>
  )
}

function Reason({ recipient: { reason, errorCode, errorMessage } }: { recipient: Recipient }) {
  const { t } = useTranslation('broadcasts')
  const { t: ofErrors } = useTranslation('analytics')
  if (reason !== null) return <Text size="sm">{skipReason(t, reason)}</Text>
  if (errorCode === null && errorMessage === null) return null
  const hint = errorHint(ofErrors, errorCode)
  return (
    <Stack gap={2}>
      <Text size="sm">
        <Code>{errorCode}</Code> {errorMessage}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </Stack>
  )
}

/** The time of a recipient's latest status. */
function At({ recipient: { sent_at, delivered_at, read_at } }: { recipient: Recipient }) {
  const { t } = useTranslation('broadcasts')
  const { dateTime } = useFormat()
  const at = read_at ?? delivered_at ?? sent_at
  if (at === null) return null
  const kind = read_at ? 'read' : delivered_at ? 'delivered' : 'sent'
  return (
    <Text size="sm">
      {dateTime(at)}
      <Text span display="block" size="xs" c="dimmed">
        {t(`recipientStatuses.${kind}`)}
      </Text>
    </Text>
  )
}
