// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "analytics.get": [
    {
      "name": "example",
      "query": {"broadcast_id": "01a20000-0000-7000-8000-000000000016"},
      "status": 200,
      "answer": {
        "success": true,
        "data": {
          "broadcastInfo": {
            "id": "01a20000-0000-7000-8000-000000000016",
            "name": "Spring",
            "templateName": "hello_world",
            "createdAt": "2026-03-02T09:00:00.000Z",
            "totalRecipients": 2
          },
          "deliveryStats": {"sent": 1, "delivered": 1, "read": 1, "failed": 1, "deliveryRate": 100, "readRate": 100},
          "conversionFunnel": {"sent": 1, "delivered": 1, "read": 1, "buttonClicked": 0, "optedOut": 0},
          "buttonAnalytics": null,
          "allButtons": [],
          "totalButtonClicks": 0,
          "optOutAnalytics": {"totalOptOuts": 0, "optOutRate": 0},
          "revenue": {
            "totalRevenue": 0,
            "currency": "BRL",
            "orderCount": 0,
            "avgOrderValue": 0,
            "utmCampaign": null,
            "utmCampaigns": [],
            "orders": [],
            "otherCurrencies": [],
            "attributed": {"totalRevenue": 0, "orderCount": 0, "avgOrderValue": 0, "currency": "BRL", "window_days": 7}
          }
        }
      }
    },
    {
      "name": "broadcast_not_found",
      "query": {"broadcast_id": "01a20000-0000-7000-8000-000000000018"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Broadcast not found",
        "message": "There is no broadcast with the id 01a20000-0000-7000-8000-000000000018"
      }
    }
  ],
  "analytics.query": [
    {
      "name": "example",
      "body": {"broadcast_id": "01a20000-0000-7000-8000-000000000016"},
      "status": 200,
      "answer": {
        "success": true,
        "data": {
          "broadcastInfo": {
            "id": "01a20000-0000-7000-8000-000000000016",
            "name": "Spring",
            "templateName": "hello_world",
            "createdAt": "2026-03-02T09:00:00.000Z",
            "totalRecipients": 2
          },
          "deliveryStats": {"sent": 1, "delivered": 1, "read": 1, "failed": 1, "deliveryRate": 100, "readRate": 100},
          "conversionFunnel": {"sent": 1, "delivered": 1, "read": 1, "buttonClicked": 0, "optedOut": 0},
          "buttonAnalytics": null,
          "allButtons": [],
          "totalButtonClicks": 0,
          "optOutAnalytics": {"totalOptOuts": 0, "optOutRate": 0},
          "revenue": {
            "totalRevenue": 0,
            "currency": "BRL",
            "orderCount": 0,
            "avgOrderValue": 0,
            "utmCampaign": null,
            "utmCampaigns": [],
            "orders": [],
            "otherCurrencies": [],
            "attributed": {"totalRevenue": 0, "orderCount": 0, "avgOrderValue": 0, "currency": "BRL", "window_days": 7}
          }
        }
      }
    },
    {
      "name": "invalid_field",
      "body": {"start_date": "2026-02-01", "end_date": "2026-01-01"},
      "status": 400,
      "answer": {"success": false, "error": "Invalid field", "message": "end_date 2026-01-01 is before start_date 2026-02-01"}
    }
  ]
}
