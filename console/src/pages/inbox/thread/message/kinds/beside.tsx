import { Text } from '@mantine/core'
import { IconArrowForwardUp, IconShoppingBag, IconSpeakerphone } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ShownContent } from '../../../../../../../src/model/messages/shown/schemas.js'
import { safeAddress } from '../../../../../shared/markup.js'
import classes from './body.module.css'

/** What messages of all kinds may have above their content: the forwarded mark, the ad, the product asked about. */
export function Beside({ content: { forwarded, referral, referred_product: product } }: { content: ShownContent }) {
  const { t } = useTranslation('thread')
  return (
    <>
      {forwarded && (
        <Text size="xs" px={4} fs="italic" className={classes.dim}>
          <IconArrowForwardUp aria-hidden size={13} className={classes.inline} />{' '}
          {t(forwarded === 'often' ? 'forwardedOften' : 'forwarded')}
        </Text>
      )}
      {referral && <Referral referral={referral} />}
      {product && (
        <Text size="xs" px={4} className={classes.dim}>
          <IconShoppingBag aria-hidden size={13} className={classes.inline} />{' '}
          {t('askedAbout', { product: product.product_id ?? product.catalog_id ?? '?' })}
        </Text>
      )}
    </>
  )
}

/** The ad from which the customer wrote. */
function Referral({ referral }: { referral: NonNullable<ShownContent['referral']> }) {
  const { t } = useTranslation('thread')
  const { headline: title, body: text, source_url: address, source_id: id } = referral
  const shown = (
    <>
      <Text size="xs" className={classes.dim}>
        <IconSpeakerphone aria-hidden size={13} className={classes.inline} /> {t('referral')}
      </Text>
      <Text size="sm" fw={600} lineClamp={2}>
        {title ?? address ?? id}
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
