import { Text } from '@mantine/core'
import { IconSpeakerphone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { asObject, asText } from '../../../../../shared/json.js'
import { safeAddress } from '../../../../../shared/markup.js'
import classes from './body.module.css'

/** The ad from which the customer wrote, if any. */
export function Referral({ content }: { content: unknown }) {
  const { t } = useTranslation('thread')
  const { headline, body, source_url } = asObject(content)
  const [title, text, address] = [asText(headline), asText(body), asText(source_url)]
  if (title === null && text === null && address === null) return null
  const shown = (
    <>
      <Text size="xs" className={classes.dim}>
        <IconSpeakerphone aria-hidden size={13} className={classes.inline} /> {t('referral')}
      </Text>
      <Text size="sm" fw={600} lineClamp={2}>
        {title ?? address}
      </Text>
      {text && (
        <Text size="xs" lineClamp={3} className={classes.dim}>
          {text}
        </Text>
      )}
    </>
  )
  const href = address === null ? null : safeAddress(address)
  const className = `${classes.box} ${classes.referral}`
  if (href === null) return <span className={className}>{shown}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className={className}>
      {shown}
    </a>
  )
}
