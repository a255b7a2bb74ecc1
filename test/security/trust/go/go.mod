module kubenest.test/trust

go 1.24
