import type { analytics as english } from '../en/analytics.js'
import type { SameShape } from '../same-shape.js'

export const analytics: SameShape<typeof english> = {
  title: 'Resultados',
  zone: 'Campanhas que começaram nestes dias ({{timezone}})',
  sums: 'Totais destes dias',
  sort: 'Ordenar',
  exportOf: 'Baixar {{of}} em CSV',
  broadcasts_one: '{{count}} campanha',
  broadcasts_other: '{{count}} campanhas',
  withOneOffSends: '{{broadcasts}} e envios avulsos',
  range: {
    label: 'Período',
    days: 'Primeiro e último dia',
    last_one: '{{count}} dia',
    last_other: '{{count}} dias',
  },
  calendar: {
    previousMonth: 'Mês anterior',
    nextMonth: 'Próximo mês',
    previousYear: 'Ano anterior',
    nextYear: 'Próximo ano',
    previousDecade: 'Década anterior',
    nextDecade: 'Próxima década',
    hours: 'Horas',
    minutes: 'Minutos',
    done: 'Pronto',
  },
  view: { label: 'Mostrar “{{of}}” como', chart: 'Gráfico', table: 'Tabela' },
  figures: {
    recipients: 'Destinatários',
    skipped: 'Ignorados',
    sent: 'Enviadas',
    delivered: 'Entregues',
    read: 'Lidas',
    failed: 'Falhas',
    clicked: 'Clicaram num botão',
    optedOut: 'Descadastros',
  },
  rates: {
    delivery: 'Taxa de entrega',
    read: 'Taxa de leitura',
    ofSent: '{{rate}} das enviadas',
    ofDelivered: '{{rate}} das entregues',
    ofRecipients: '{{rate}} dos destinatários',
  },
  empty: {
    title: 'Nada foi enviado nestes dias',
    hint: 'Escolha outros dias ou envie uma campanha: os números aparecem aqui em segundos.',
  },
  days: {
    title: 'Dia a dia',
    hint: 'Os destinatários contam no dia em que a campanha começou.',
    day: 'Dia',
    chart:
      'Gráfico de linhas com mensagens enviadas, entregues, lidas e falhas de cada dia. A tabela traz os mesmos números.',
  },
  campaigns: {
    title: 'Campanhas',
    name: 'Campanha',
    date: 'Criada em',
    oneOffSends: 'Envios avulsos',
  },
  templates: { title: 'Modelos', name: 'Modelo', campaigns: 'Campanhas' },
  funnel: {
    title: 'Funil',
    hint: 'Até onde os destinatários chegaram',
    step: 'Etapa',
    people: 'Pessoas',
    share: 'Das enviadas',
    chart: 'Gráfico de barras com quantos destinatários chegaram a cada etapa. A tabela traz os mesmos números.',
  },
  buttons: {
    title: 'Botões',
    hint: 'Cada destinatário conta uma vez por botão',
    none: 'O modelo não tem botões de resposta rápida.',
    button: 'Botão',
    clicks: 'Cliques',
    rate: 'Das entregues',
    chart: 'Gráfico de barras com quantos destinatários tocaram em cada botão. A tabela traz os mesmos números.',
  },
  revenue: {
    title: 'Receita',
    count_one: '{{shown}} pedido',
    count_other: '{{shown}} pedidos',
    hint_one:
      'Atribuída: cada pedido conta para uma única campanha, com base no último clique do comprador ou na última mensagem recebida no dia antes do pedido. A receita pelo link (“{{campaign}}”) soma todos os pedidos dele, de qualquer envio e data.',
    hint_other:
      'Atribuída: cada pedido conta para uma única campanha, com base no último clique do comprador ou na última mensagem recebida nos {{count}} dias antes do pedido. A receita pelo link (“{{campaign}}”) soma todos os pedidos dele, de qualquer envio e data.',
    attributed: 'Receita atribuída',
    ofCampaign: 'Receita pelo link',
    dueToThis: 'Atribuído',
    yes: 'Sim',
    no: 'Não',
    none: 'Nenhum pedido ainda',
    noCampaign:
      'Esta campanha não tem link curto com utm_campaign, por isso não é possível identificar os pedidos dela.',
    orders: 'Pedidos',
    average: 'Ticket médio',
    perRecipient: 'Por destinatário alcançado',
    other: 'Em outra moeda',
    otherOrders_one: '{{count}} pedido, fora dos totais',
    otherOrders_other: '{{count}} pedidos, fora dos totais',
    order: 'Pedido',
    date: 'Data',
    price: 'Total',
    payment: 'Pagamento',
    campaign: 'Campanha',
    payments: {
      paid: 'Pago',
      pending: 'Pendente',
      authorized: 'Autorizado',
      partially_paid: 'Pago em parte',
      refunded: 'Reembolsado',
      partially_refunded: 'Reembolsado em parte',
      voided: 'Anulado',
    },
  },
  errors: {
    title: 'Por que as mensagens falharam',
    none: 'Nada falhou nestes dias.',
    reason: 'Motivo e o que fazer',
    count: 'Mensagens',
    share: 'Das falhas',
    hints: {
      '131026':
        'O número não está no WhatsApp, usa uma versão antiga do aplicativo ou não aceitou os termos. Remova-o das suas listas: tentar de novo não adianta.',
      '131042':
        'Há um problema no pagamento da sua conta comercial. Resolva-o no Gerenciador do WhatsApp e tente de novo.',
      '131045': 'O seu número não está registrado corretamente. Registre-o no WhatsApp e tente de novo.',
      '131047':
        'A pessoa não escreveu nas últimas 24 horas. Só modelos chegam até ela: verifique se este está aprovado.',
      '131048':
        'O envio foi limitado porque pessoas bloquearam ou denunciaram mensagens anteriores. Espere e envie só a quem pediu.',
      '131049':
        'O WhatsApp está limitando mensagens de marketing para esta pessoa. Não tente de novo em menos de 24 horas. Enviar menos campanhas ajuda.',
      '131050': 'A pessoa não quer receber mensagens de marketing suas e não recebe mais campanhas.',
      '131053': 'Não foi possível usar o arquivo acima do texto. Verifique URL, formato e tamanho e tente de novo.',
      '130429':
        'As mensagens foram enviadas mais rápido do que o seu número permite. Tente de novo. Uma velocidade de envio menor nas configurações evita isso.',
      '130472':
        'A pessoa faz parte de um experimento do WhatsApp que retém mensagens de marketing. Não há o que fazer.',
      '130497': 'A sua empresa não pode enviar mensagens a pessoas deste país.',
      '131056': 'Foram enviadas mensagens demais a esta pessoa em pouco tempo. Tente de novo em alguns minutos.',
      '132000': 'O modelo espera outra quantidade de valores. Atualize os modelos e envie de novo.',
      '132001': 'O modelo não existe neste idioma ou não está aprovado. Verifique-o no Gerenciador do WhatsApp.',
      '132012': 'Um valor não tem o formato que o modelo espera. Verifique os valores e o arquivo acima do texto.',
      '132015':
        'O modelo foi pausado por causa de avaliações negativas. Edite-o no Gerenciador do WhatsApp ou use outro.',
      '132016': 'O modelo foi desativado definitivamente por causa de avaliações negativas. Use outro.',
      '368': 'A sua conta está bloqueada por violar uma política. Verifique no Gerenciador do WhatsApp.',
      '190':
        'O token de acesso expirou ou foi revogado. Um proprietário precisa definir um novo nas configurações. Depois, tente de novo.',
      outcome_unknown:
        'A mensagem foi enviada, mas nenhum status chegou em 15 minutos. Ela pode ter sido entregue: tentar de novo pode enviá-la duas vezes.',
    },
  },
}
