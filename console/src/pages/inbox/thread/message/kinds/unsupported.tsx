import { Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import classes from './body.module.css'
import { Missing } from './missing.js'

/** A message that WhatsApp does not pass on: what it was, and why. */
export function Unsupported({ content: { kind, errors } }: { content: ContentOf<'unsupported'> }) {
  const { t } = useTranslation('thread')
  const [error] = errors ?? []
  const reason = error?.details ?? error?.title
  return (
    <>
      <Missing>{kind === null ? t('unsupported') : t('unsupportedKind', { kind })}</Missing>
      {reason && (
        <Text size="xs" px={4} className={classes.dim}>
          {reason}
        </Text>
      )}
    </>
  )
}

/** A message of a kind that is not known: its name. */
export function Unknown({ content: { name } }: { content: ContentOf<'other'> }) {
  const { t } = useTranslation('thread')
  return <Missing>{name === null ? t('unsupported') : t('unsupportedKind', { kind: name })}</Missing>
}
